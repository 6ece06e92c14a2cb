// Reduces a symmetric matrix of 350 rows to tridiagonal form.
#include "core/reml/linear_algebra/tridiagonal.h"

#include <vector>

#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  constexpr int n = 350;
  std::vector<double> a(n * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) a[j * n + i] = (i * 7919 + j * 7919 + i * j % 101) % 2003;
  }
  return [a] {
    std::vector<double> overwritten = a;
    JobControl control;
    const reml::Tridiagonal form({control, 1}, n, overwritten.data());
  };
}

}  // namespace ancify::bench
