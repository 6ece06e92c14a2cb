// Right-looking Cholesky by blocks of columns (Golub and Van Loan 2013, Matrix Computations,
// section 4.2.9). Columns k, k + 1, ... of the inverse are L'^-1 L^-1 E; their rows from k on need
// the trailing part of L alone.
#include "core/reml/large_factor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/reml/lapack.h"

namespace ancify::reml {

namespace {

std::size_t place(int n, int row, int column) {
  return static_cast<std::size_t>(column) * static_cast<std::size_t>(n) +
         static_cast<std::size_t>(row);
}

}  // namespace

bool factorise(int n, std::vector<double>& a, const std::function<void()>& between) {
  constexpr int kWidth = 128;
  const auto tile = [&](int row, int column) { return Tile{a.data() + place(n, row, column), n}; };
  for (int first = 0; first < n; first += kWidth) {
    const int width = std::min(kWidth, n - first);
    const int next = first + width;
    if (!cholesky(width, tile(first, first))) return false;
    divide_by_factor(n - next, width, tile(first, first), tile(next, first));
    for (int column = next; column < n; column += kWidth) {
      between();
      const Tile left = tile(column, first);
      subtract_product(n - column, std::min(kWidth, n - column), width, left, left,
                       tile(column, column));
    }
  }
  return true;
}

std::vector<double> invert(int n, const std::vector<double>& factor,
                           const std::function<void()>& between) {
  // A block of columns takes at most 2^31 operations.
  constexpr std::int64_t kProducts = std::int64_t{1} << 30;
  const std::int64_t wanted = kProducts / n / n;
  const auto most =
      static_cast<int>(std::min<std::int64_t>(std::max<std::int64_t>(wanted, 16), 256));
  std::vector<double> inverse(factor.size(), 0);
  for (int first = 0; first < n; first += most) {
    between();
    const int width = std::min(most, n - first);
    for (int j = first; j < first + width; ++j) inverse[place(n, j, j)] = 1;
    const std::size_t corner = place(n, first, first);
    cholesky_solve(n - first, width, {factor.data() + corner, n}, {inverse.data() + corner, n});
  }
  return inverse;
}

}  // namespace ancify::reml
