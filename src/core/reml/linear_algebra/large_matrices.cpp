// By tiles, A = L L' and P = A^-1 are
//   L_kk L_kk' = A_kk - sum_j L_kj L_kj',  L_ik = (A_ik - sum_j L_ij L_kj') L_kk'^-1,  j < k,
//   W_ij = -L_ii^-1 sum_k L_ik W_kj,  j <= k < i,  P_ij = sum_k W_ki' W_kj,  k >= i >= j,
// with W = L^-1 (Golub and Van Loan 2013, Matrix Computations, sections 3.1 and 4.2). Each sum is
// one product of matrices.
#include "core/reml/linear_algebra/large_matrices.h"

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

// A matrix as tiles of nearly equal size, none with only a few rows, which Eigen would sum in an
// order that depends on alignment. Tile (i, j) has rows from first(i) and columns from first(j) on.
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

// The processor's best level, so that bytes do not depend on a job's level.
const MatrixFunctions& functions() { return matrix_functions_of(best_simd_level()); }

void run(const Workers& workers, std::int64_t n, const std::function<void(std::int64_t)>& task) {
  run_tasks(workers.control, workers.threads, n,
            [&](std::int64_t i, const TaskContext&) { task(i); });
}

// Pairs i >= j, by increasing i.
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
  Vector left(area(n, kMostWidth));  // a column of tiles less the contribution of earlier columns
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
  const MatrixFunctions& matrices = functions();
  const Tiles l({n, const_cast<double*>(factor.data()), n});          // read only
  std::vector<Vector> inverses(static_cast<std::size_t>(l.count()));  // of the diagonal's tiles
  run(workers, l.count(), [&](std::int64_t k) {
    Vector& inverse = inverses[static_cast<std::size_t>(k)];
    inverse.resize(area(l.size(k), l.size(k)));
    matrices.invert_factor(l.size(k), l.at(k, k), n, inverse.data(), l.size(k));
  });
  const Tiles groups({static_cast<std::int64_t>(columns.size()) / n, columns.data(), n});
  run(workers, groups.count(), [&](std::int64_t group) {
    const std::int64_t width = groups.size(group);
    double* const own = columns.data() + groups.first(group) * n;
    // A single column is padded with a column of zeros, as its products would depend on its
    // alignment.
    const std::int64_t rows = std::max<std::int64_t>(width, 2);
    Vector x(area(n, rows));
    std::copy(own, own + width * n, x.begin());
    Vector sums(area(rows, kMostWidth));
    // x_k = (x_k - sums) L_kk'^-1, or L_kk^-1 going back
    const auto solve_tile = [&](std::int64_t k, bool back, bool has_sums) {
      TaskContext(workers.control).throw_if_stopped();
      const std::int64_t size = l.size(k);
      double* const x_k = x.data() + l.first(k);
      for (std::int64_t c = 0; c < rows; ++c) {
        for (std::int64_t i = 0; i < size; ++i) {
          double& sum = sums[static_cast<std::size_t>(c * size + i)];
          sum = x_k[c * n + i] - (has_sums ? sum : 0);
        }
      }
      matrices.multiply_doubles({rows, size, size, sums.data(), size,
                                 inverses[static_cast<std::size_t>(k)].data(), size, back, x_k, n});
    };
    for (std::int64_t k = 0; k < l.count(); ++k) {
      if (k > 0) {
        matrices.multiply_doubles({rows, l.size(k), l.first(k), x.data(), n, l.at(k, 0), n, false,
                                   sums.data(), l.size(k)});
      }
      solve_tile(k, false, k > 0);
    }
    for (std::int64_t k = l.count() - 1; k >= 0; --k) {
      const std::int64_t next = l.first(k + 1);
      if (next < n) {
        matrices.multiply_doubles({rows, l.size(k), n - next, x.data() + next, n, l.at(k + 1, k), n,
                                   true, sums.data(), l.size(k)});
      }
      solve_tile(k, true, next < n);
    }
    std::copy_n(x.begin(), width * n, own);
  });
}

void symmetric_times(const Workers& workers, std::int64_t n, const double* a, std::int64_t columns,
                     const double* b, double* out) {
  // With few columns, a pass over the matrix dominates the cost.
  if (columns < 4) {
    cross_block(workers, n, static_cast<int>(n), static_cast<int>(columns), a, b, out);
    return;
  }
  const Tiles tiles({n, nullptr, n});
  run(workers, tiles.count(), [&](std::int64_t i) {
    functions().multiply_doubles(
        {columns, tiles.size(i), n, b, n, a + tiles.first(i), n, false, out + tiles.first(i), n});
  });
}

void subtract_product(const Workers& workers, std::int64_t n, std::int64_t rank, const Vector& left,
                      const Vector& right, double* a) {
  const Tiles tiles({n, a, n});
  run(workers, tiles.count(), [&](std::int64_t j) {
    Vector product(area(n, tiles.size(j)));
    functions().multiply_doubles({tiles.size(j), n, rank, right.data() + tiles.first(j), n,
                                  left.data(), n, false, product.data(), n, true});
    double* const out = a + tiles.first(j) * n;
    for (std::size_t i = 0; i < product.size(); ++i) out[i] -= product[i];
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
