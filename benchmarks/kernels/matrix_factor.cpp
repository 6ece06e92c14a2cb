// Factorises a matrix of 300 rows, and inverts the factor.
#include <vector>

#include "core/matrices/level.h"
#include "kernel.h"
#include "level.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  constexpr int n = 300;
  std::vector<double> a(n * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) a[j * n + i] = (i == j ? n : 0) + (i * j % 101) / 101.0;
  }
  return [a, level = kernel_level()] {
    std::vector<double> factor = a;
    std::vector<double> inverse(a.size());
    const MatrixFunctions& functions = matrix_functions_of(level);
    functions.factorise(n, factor.data(), n);
    functions.invert_factor(n, factor.data(), n, inverse.data(), n);
  };
}

}  // namespace ancify::bench
