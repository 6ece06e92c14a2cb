// The diagonal of a kernel of which only products are known.
#include "core/reml/kernels/kernels.h"

#include <algorithm>
#include <cstddef>

namespace ancify::reml {

std::vector<double> Kernels::diagonal(int component) {
  constexpr std::int64_t kColumns = 64;
  const std::int64_t n = samples();
  std::vector<double> theta(static_cast<std::size_t>(components()));
  theta[static_cast<std::size_t>(component)] = 1;
  std::vector<double> result;
  for (std::int64_t first = 0; first < n; first += kColumns) {
    const auto width = std::min(kColumns, n - first);
    std::vector<double> units(static_cast<std::size_t>(n * width));
    std::vector<double> product(units.size());
    for (std::int64_t c = 0; c < width; ++c) {
      units[static_cast<std::size_t>(c * n + first + c)] = 1;
    }
    times(theta.data(), units.data(), static_cast<int>(width), Precision::kFull, product.data());
    for (std::int64_t c = 0; c < width; ++c) {
      result.push_back(product[static_cast<std::size_t>(c * n + first + c)]);
    }
  }
  return result;
}

}  // namespace ancify::reml
