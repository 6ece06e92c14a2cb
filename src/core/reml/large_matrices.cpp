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

constexpr std::int64_t kWidth =
    96;  // a tile, and the panels of its products, stay in a core's cache

std::int64_t count_tiles(std::int64_t n) { return (n + kWidth - 1) / kWidth; }
std::int64_t width_of(std::int64_t n, std::int64_t i) { return std::min(kWidth, n - i * kWidth); }

// Tile (i, j) has rows from i * kWidth on, and columns from j * kWidth on.
double* tile(const Square& matrix, std::int64_t i, std::int64_t j) {
  return matrix.data + (j * matrix.stride + i) * kWidth;
}

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

bool factorise(const Workers& workers, const Square& a) {
  const MatrixFunctions& matrices = functions();
  const std::int64_t n = a.n;
  const std::int64_t count = count_tiles(n);
  Vector left(area(n, kWidth));  // what earlier columns leave of a column of tiles
  Vector inverse(area(kWidth, kWidth));
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t width = width_of(n, k);
    run(workers, count - k, [&](std::int64_t task) {
      const std::int64_t i = k + task;
      const std::int64_t rows = width_of(n, i);
      double* const out = &left[area(i, kWidth)];
      if (k > 0) {
        matrices.multiply_doubles({width, rows, k * kWidth, tile(a, k, 0), a.stride, tile(a, i, 0),
                                   a.stride, false, out, n, true});
      }
      const double* const from = tile(a, i, k);
      for (std::int64_t c = 0; c < width; ++c) {
        for (std::int64_t r = 0; r < rows; ++r) {
          out[c * n + r] = from[c * a.stride + r] - (k > 0 ? out[c * n + r] : 0);
        }
      }
    });
    double* const corner = &left[area(k, kWidth)];
    if (!matrices.factorise(width, corner, n)) return false;
    matrices.invert_factor(width, corner, n, inverse.data(), width);
    for (std::int64_t c = 0; c < width; ++c) {
      std::copy(corner + c * n + c, corner + c * n + width, tile(a, k, k) + c * a.stride + c);
    }
    run(workers, count - k - 1, [&](std::int64_t task) {
      const std::int64_t i = k + 1 + task;
      matrices.multiply_doubles({width, width_of(n, i), width, inverse.data(), width,
                                 &left[area(i, kWidth)], n, false, tile(a, i, k), a.stride, true});
    });
  }
  return true;
}

void invert(const Workers& workers, const Square& factor) {
  const MatrixFunctions& matrices = functions();
  const std::int64_t n = factor.n;
  const std::int64_t count = count_tiles(n);
  Vector numbers(area(n, n));
  const Square w = {n, numbers.data(), n};
  run(workers, count, [&](std::int64_t i) {
    matrices.invert_factor(width_of(n, i), tile(factor, i, i), factor.stride, tile(w, i, i), n);
  });
  run(workers, count, [&](std::int64_t j) {
    const std::int64_t width = width_of(n, j);
    Vector sums(area(kWidth, kWidth));
    for (std::int64_t i = j + 1; i < count; ++i) {
      TaskContext(workers.control).throw_if_stopped();
      const std::int64_t rows = width_of(n, i);
      matrices.multiply_doubles({width, rows, (i - j) * kWidth, tile(w, j, j), n,
                                 tile(factor, i, j), factor.stride, false, sums.data(), rows});
      for (double& sum : sums) sum = -sum;
      matrices.multiply_doubles(
          {width, rows, rows, sums.data(), rows, tile(w, i, i), n, false, tile(w, i, j), n});
    }
  });
  const auto tiles = lower_tiles(count);  // the longest sums first
  run(workers, static_cast<std::int64_t>(tiles.size()), [&](std::int64_t task) {
    const auto [i, j] = tiles[static_cast<std::size_t>(task)];
    double* const out = tile(factor, i, j);
    matrices.multiply_doubles({width_of(n, j), width_of(n, i), n - i * kWidth, tile(w, i, j), n,
                               tile(w, i, i), n, true, out, factor.stride});
    double* const mirrored = tile(factor, j, i);
    for (std::int64_t c = 0; c < width_of(n, j); ++c) {
      for (std::int64_t r = i == j ? c + 1 : 0; r < width_of(n, i); ++r) {
        mirrored[r * factor.stride + c] = out[c * factor.stride + r];
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
  const std::int64_t count = count_tiles(n);
  Vector out(area(n, n));
  run(workers, count * count, [&](std::int64_t task) {
    const std::int64_t i = task % count * kWidth;
    const std::int64_t j = task / count * kWidth;
    matrices.multiply_doubles({std::min(kWidth, n - j), std::min(kWidth, n - i), n, &b[area(n, j)],
                               n, &a[static_cast<std::size_t>(i)], n, false,
                               &out[area(n, j) + static_cast<std::size_t>(i)], n});
  });
  return out;
}

}  // namespace ancify::reml
