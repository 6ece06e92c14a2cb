// By tiles, A = L L' and P = A^-1 are
//   L_kk L_kk' = A_kk - sum_j L_kj L_kj',  L_ik = (A_ik - sum_j L_ij L_kj') L_kk'^-1,  j < k,
//   W_ij = -L_ii^-1 sum_k L_ik W_kj,  j <= k < i,  P_ij = sum_k W_ki' W_kj,  k >= i >= j,
// with W = L^-1 (Golub and Van Loan 2013, Matrix Computations, sections 3.1 and 4.2). Each sum is
// one product of matrices.
#include "core/reml/large_matrices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "core/exec/threads.h"
#include "core/matrices/level.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// Tiles, and panels of products, stay in a core's cache.
constexpr std::int64_t kMostWidth = 96;

// A matrix as tiles of nearly the same size, none of a few rows: Eigen would sum these in another
// way, which depends on how numbers are aligned. Tile (i, j) has rows from first(i) and columns
// from first(j) on.
class Tiles {
 public:
  explicit Tiles(const Square& matrix) : matrix_(matrix) {}
  std::int64_t count() const { return (matrix_.n + kMostWidth - 1) / kMostWidth; }
  std::int64_t first(std::int64_t i) const { return i * matrix_.n / count(); }
  std::int64_t size(std::int64_t i) const { return first(i + 1) - first(i); }
  std::int64_t stride() const { return matrix_.stride; }
  double* at(std::int64_t i, std::int64_t j) const {
    return matrix_.data + first(j) * matrix_.stride + first(i);
  }

 private:
  Square matrix_;
};

// The processor's best level, whatever level a job is told: as BLAS chooses.
const MatrixFunctions& functions() { return matrix_functions_of(best_simd_level()); }

void run(const Workers& workers, std::int64_t n, const std::function<void(std::int64_t)>& task) {
  run_tasks(workers.control, workers.threads, n, [&](std::int64_t i, const TaskContext& context) {
    context.throw_if_stopped();
    task(i);
  });
}

// Pairs i >= j, those with a small i first.
std::vector<std::pair<std::int64_t, std::int64_t>> lower_tiles(std::int64_t count) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) pairs.emplace_back(i, j);
  }
  return pairs;
}

}  // namespace

bool factorise(const Workers& workers, const Square& matrix) {
  const MatrixFunctions& matrices = functions();
  const Tiles a(matrix);
  const std::int64_t n = matrix.n;
  Vector left(area(n, kMostWidth));  // what earlier columns leave of a column of tiles
  Vector inverse(area(kMostWidth, kMostWidth));
  const auto left_of = [&](std::int64_t i) { return left.data() + a.first(i); };
  for (std::int64_t k = 0; k < a.count(); ++k) {
    const std::int64_t width = a.size(k);
    run(workers, a.count() - k, [&](std::int64_t task) {
      const std::int64_t i = k + task;
      const std::int64_t rows = a.size(i);
      double* const out = left_of(i);
      if (k > 0) {
        matrices.multiply_doubles({width, rows, a.first(k), a.at(k, 0), a.stride(), a.at(i, 0),
                                   a.stride(), false, out, n, true});
      }
      const double* const from = a.at(i, k);
      for (std::int64_t c = 0; c < width; ++c) {
        for (std::int64_t r = 0; r < rows; ++r) {
          out[c * n + r] = from[c * a.stride() + r] - (k > 0 ? out[c * n + r] : 0);
        }
      }
    });
    double* const corner = left_of(k);
    if (!matrices.factorise(width, corner, n)) return false;
    matrices.invert_factor(width, corner, n, inverse.data(), width);
    for (std::int64_t c = 0; c < width; ++c) {
      std::copy(corner + c * n + c, corner + c * n + width, a.at(k, k) + c * a.stride() + c);
    }
    run(workers, a.count() - k - 1, [&](std::int64_t task) {
      const std::int64_t i = k + 1 + task;
      matrices.multiply_doubles({width, a.size(i), width, inverse.data(), width, left_of(i), n,
                                 false, a.at(i, k), a.stride(), true});
    });
  }
  return true;
}

void invert(const Workers& workers, const Square& matrix) {
  const MatrixFunctions& matrices = functions();
  const Tiles factor(matrix);
  const std::int64_t n = matrix.n;
  const std::int64_t count = factor.count();
  Vector numbers(area(n, n));
  const Tiles w({n, numbers.data(), n});
  run(workers, count, [&](std::int64_t i) {
    matrices.invert_factor(w.size(i), factor.at(i, i), factor.stride(), w.at(i, i), n);
  });
  run(workers, count, [&](std::int64_t j) {
    const std::int64_t width = w.size(j);
    Vector sums(area(kMostWidth, kMostWidth));
    for (std::int64_t i = j + 1; i < count; ++i) {
      TaskContext(workers.control).throw_if_stopped();
      const std::int64_t rows = w.size(i);
      matrices.multiply_doubles({width, rows, w.first(i) - w.first(j), w.at(j, j), n,
                                 factor.at(i, j), factor.stride(), false, sums.data(), rows});
      for (double& sum : sums) sum = -sum;
      matrices.multiply_doubles(
          {width, rows, rows, sums.data(), rows, w.at(i, i), n, false, w.at(i, j), n});
    }
  });
  const auto tiles = lower_tiles(count);  // the longest sums first
  run(workers, static_cast<std::int64_t>(tiles.size()), [&](std::int64_t task) {
    const auto [i, j] = tiles[static_cast<std::size_t>(task)];
    double* const out = factor.at(i, j);
    matrices.multiply_doubles({w.size(j), w.size(i), n - w.first(i), w.at(i, j), n, w.at(i, i), n,
                               true, out, factor.stride()});
    double* const mirrored = factor.at(j, i);
    for (std::int64_t c = 0; c < w.size(j); ++c) {
      for (std::int64_t r = i == j ? c + 1 : 0; r < w.size(i); ++r) {
        mirrored[r * factor.stride() + c] = out[c * factor.stride() + r];
      }
    }
  });
}

void solve(const Workers& workers, std::int64_t n, const Vector& factor, Vector& columns) {
  run(workers, static_cast<std::int64_t>(columns.size()) / n, [&](std::int64_t column) {
    double* const x = &columns[area(n, column)];
    for (std::int64_t j = 0; j < n; ++j) {
      const double* const l = &factor[area(n, j)];
      const double value = x[j] / l[j];
      x[j] = value;
      for (std::int64_t i = j + 1; i < n; ++i) x[i] -= l[i] * value;
    }
    for (std::int64_t j = n - 1; j >= 0; --j) {
      const double* const l = &factor[area(n, j)];
      x[j] = (x[j] - lane_product(n - j - 1, l + j + 1, x + j + 1)) / l[j];
    }
  });
}

Vector multiply_symmetric(const Workers& workers, std::int64_t n, const Vector& a,
                          const Vector& b) {
  const MatrixFunctions& matrices = functions();
  Vector out(area(n, n));
  const Tiles tiles({n, out.data(), n});
  run(workers, tiles.count() * tiles.count(), [&](std::int64_t task) {
    const std::int64_t i = task % tiles.count();
    const std::int64_t j = task / tiles.count();
    matrices.multiply_doubles({tiles.size(j), tiles.size(i), n, &b[area(n, tiles.first(j))], n,
                               &a[static_cast<std::size_t>(tiles.first(i))], n, false,
                               tiles.at(i, j), n});
  });
  return out;
}

}  // namespace ancify::reml
