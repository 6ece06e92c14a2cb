// A reflection I - tau v v' zeroes each column below the subdiagonal. The vectors v of a panel of
// columns form V. Each has a column of W,
//   w = tau (u - (u'v) tau v / 2),  u = A v - V W'v - W V'v,
// with the V and W of earlier columns. Then the rest of A becomes A - V W' - W V' (Dongarra,
// Sorensen and Hammarling 1989, J. Comput. Appl. Math. 27, 215). So A is read once per column,
// which takes most of the time, and written once per panel.
#include "core/reml/linear_algebra/tridiagonal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/exec/threads.h"
#include "core/matrices/level.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

constexpr std::int64_t kWidth = 24;      // of a panel
constexpr std::int64_t kTile = 96;       // of tiles of the remainder
constexpr std::int64_t kMostShares = 8;  // of a product with a vector

class Reduction {
 public:
  Reduction(const TaskContext& context, std::int64_t n, double* a, double* diagonal, double* off,
            double* tau)
      : context_(context),
        n_(n),
        a_(a),
        diagonal_(diagonal),
        off_(off),
        tau_(tau),
        w_(area(n, kWidth)),
        shares_(area(n, kMostShares)) {}

  void panel(std::int64_t first) {
    const std::int64_t rest = std::min(first + kWidth, n_);
    for (std::int64_t k = first; k < rest; ++k) {
      context_.throw_if_stopped();
      column(first, k);
    }
    if (rest < n_) update(first, rest);
    // The leading 1 of v occupied this element.
    for (std::int64_t k = first; k < rest && k + 1 < n_; ++k) *at(k + 1, k) = off_[k];
  }

 private:
  double* at(std::int64_t row, std::int64_t column) { return a_ + column * n_ + row; }
  double* w(std::int64_t row, std::int64_t i) { return &w_[area(i, n_)] + row; }

  // The reflection of a panel's column k, and its w.
  void column(std::int64_t first, std::int64_t k) {
    const std::int64_t before = k - first;
    const std::int64_t left = n_ - k - 1;
    double* const pivot = at(k, k);
    subtract(left + 1, before, at(k, first), w(k, 0), n_, pivot);
    subtract(left + 1, before, w(k, 0), at(k, first), n_, pivot);
    diagonal_[k] = *pivot;
    if (left == 0) return;
    double* const v = at(k + 1, k);
    tau_[k] = reflection(static_cast<int>(left), v);
    off_[k] = std::exchange(*v, 1);
    double* const u = w(k + 1, before);
    multiply(k + 1, v, u);
    std::array<double, kWidth> dots{};
    matrices_.column_dots(left, before, w(k + 1, 0), n_, v, dots.data());
    subtract(left, before, at(k + 1, first), dots.data(), 1, u);
    matrices_.column_dots(left, before, at(k + 1, first), n_, v, dots.data());
    subtract(left, before, w(k + 1, 0), dots.data(), 1, u);
    double product = 0;
    matrices_.column_dots(left, 1, u, left, v, &product);
    const double half = product * tau_[k] / 2;
    for (std::int64_t r = 0; r < left; ++r) u[r] = tau_[k] * (u[r] - half * v[r]);
  }

  // y -= A x, of columns of V or W.
  void subtract(std::int64_t rows, std::int64_t columns, const double* a, const double* x,
                std::int64_t x_stride, double* y) {
    matrices_.subtract_columns({rows, 1, columns, a, n_, x, x_stride, y, rows});
  }

  // out = A x for the trailing submatrix from row and column k on. Shares have equal sizes, and
  // are added in order.
  void multiply(std::int64_t k, const double* x, double* out) {
    const std::int64_t n = n_ - k;
    const std::int64_t shares = std::clamp<std::int64_t>(n / 128, 1, kMostShares);
    const auto first_of = [&](std::int64_t share) {
      const double part = static_cast<double>(share) / static_cast<double>(shares);
      return static_cast<std::int64_t>(static_cast<double>(n) * (1 - std::sqrt(1 - part)));
    };
    const auto sums_of = [&](std::int64_t share) { return &shares_[area(share, n_)]; };
    context_.share(shares, [&](std::int64_t share) {
      const std::int64_t first = first_of(share);
      double* const sums = sums_of(share);
      std::fill(sums + first, sums + n, 0.0);
      matrices_.add_symmetric_columns(n - first, first_of(share + 1) - first,
                                      at(k + first, k + first), n_, x + first, sums + first);
    });
    std::copy_n(sums_of(0), n, out);
    for (std::int64_t share = 1; share < shares; ++share) {
      const double* const sums = sums_of(share);
      for (std::int64_t r = first_of(share); r < n; ++r) out[r] += sums[r];
    }
  }

  // A -= V W' + W V' for the panel's columns, in the tiles of the lower triangle from row and
  // column k on.
  void update(std::int64_t first, std::int64_t k) {
    const std::int64_t n = n_ - k;
    const std::int64_t depth = k - first;
    const std::int64_t count = (n + kTile - 1) / kTile;
    const auto first_of = [&](std::int64_t tile) { return std::min(k + tile * kTile, n_); };
    context_.share(count * (count + 1) / 2, [&](std::int64_t task) {
      context_.throw_if_stopped();
      std::int64_t i = 0;
      while ((i + 1) * (i + 2) / 2 <= task) ++i;
      const std::int64_t j = task - i * (i + 1) / 2;
      const std::int64_t row = first_of(i);
      const std::int64_t column = first_of(j);
      const std::int64_t rows = first_of(i + 1) - row;
      const std::int64_t columns = first_of(j + 1) - column;
      matrices_.subtract_columns(
          {rows, columns, depth, at(row, first), n_, w(column, 0), n_, at(row, column), n_});
      matrices_.subtract_columns(
          {rows, columns, depth, w(row, 0), n_, at(column, first), n_, at(row, column), n_});
    });
  }

  // The processor's best level, so that bytes do not depend on a job's level.
  const MatrixFunctions& matrices_ = matrix_functions_of(best_simd_level());
  const TaskContext& context_;
  std::int64_t n_;
  double* a_;
  double* diagonal_;
  double* off_;
  double* tau_;
  Vector w_;
  Vector shares_;
};

}  // namespace

Tridiagonal::Tridiagonal(const Workers& workers, int n, double* a)
    : n_(n),
      a_(a),
      diagonal_(static_cast<std::size_t>(n)),
      off_diagonal_(static_cast<std::size_t>(n)),
      tau_(static_cast<std::size_t>(n)) {
  run_tasks(workers.control, workers.threads, 1, [&](std::int64_t, const TaskContext& context) {
    Reduction reduction(context, n, a, diagonal_.data(), off_diagonal_.data(), tau_.data());
    for (std::int64_t first = 0; first < n; first += kWidth) reduction.panel(first);
  });
}

}  // namespace ancify::reml
