// Small matrices: Jacobi rotations (Golub and Van Loan, Matrix Computations, 8.5). Large ones:
// subspace iteration, with the eigenpairs of Q'MQ in each step (ibid., 8.2). A Gram matrix of
// points in three dimensions has rank 3, and then two steps suffice.
#include "core/numerics/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/numerics/vectors.h"

namespace ancify {
namespace {

using Column = std::vector<double>;

// a += scale * b
void add(double scale, const Column& b, Column& a) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += scale * b[i];
}

// The Gram-Schmidt process, twice for orthogonality. A column that depends on earlier ones becomes
// 0 or a direction of rounding errors; either is orthogonal to the others.
void orthonormalise(std::vector<Column>& columns) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t b = 0; b < c; ++b) add(-dot(columns[b], columns[c]), columns[b], columns[c]);
      const double length = std::sqrt(dot(columns[c], columns[c]));
      for (double& value : columns[c]) value = length > 0 ? value / length : 0;
    }
  }
}

std::vector<Column> product(std::size_t n, const std::vector<double>& matrix,
                            const std::vector<Column>& columns) {
  std::vector<Column> out(columns.size(), Column(n, 0.0));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      const double* row = &matrix[i * n];
      const double weight = columns[c][i];
      for (std::size_t j = 0; j < n; ++j) out[c][j] += weight * row[j];
    }
  }
  return out;
}

// Columns times a small square matrix, whose columns follow one another.
std::vector<Column> rotated(const std::vector<Column>& columns, const std::vector<double>& by) {
  const std::size_t k = columns.size();
  std::vector<Column> out(k, Column(columns[0].size(), 0.0));
  for (std::size_t c = 0; c < k; ++c) {
    for (std::size_t b = 0; b < k; ++b) add(by[c * k + b], columns[b], out[c]);
  }
  return out;
}

// The longest of the first three columns of MQ - Q diag(values).
double residual(const std::vector<Column>& image, const std::vector<Column>& basis,
                const std::vector<double>& values) {
  double most = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    Column rest = image[c];
    add(-values[c], basis[c], rest);
    most = std::max(most, std::sqrt(dot(rest, rest)));
  }
  return most;
}

}  // namespace

Eigenpairs symmetric_eigenpairs(std::size_t n, std::vector<double> matrix) {
  std::vector<double> vectors(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  constexpr int kSweeps = 30;  // Ten are enough for any matrix of this size.
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool has_rotated = false;
    for (std::size_t p = 0; p + 1 < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double off = matrix[p * n + q];
        const double diagonal = std::abs(matrix[p * n + p]) + std::abs(matrix[q * n + q]);
        if (std::abs(off) <= 1e-17 * diagonal) continue;
        has_rotated = true;
        const double theta = (matrix[q * n + q] - matrix[p * n + p]) / (2 * off);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0);
        const double s = t * c;
        const auto rotate = [c, s](double& a, double& b) {
          const double old = a;
          a = c * old - s * b;
          b = s * old + c * b;
        };
        for (std::size_t k = 0; k < n; ++k) rotate(matrix[k * n + p], matrix[k * n + q]);
        for (std::size_t k = 0; k < n; ++k) rotate(matrix[p * n + k], matrix[q * n + k]);
        for (std::size_t k = 0; k < n; ++k) rotate(vectors[p * n + k], vectors[q * n + k]);
        matrix[p * n + q] = matrix[q * n + p] = 0;
      }
    }
    if (!has_rotated) break;
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return matrix[a * n + a] > matrix[b * n + b];
  });
  Eigenpairs pairs;
  for (const std::size_t k : order) {
    pairs.values.push_back(matrix[k * n + k]);
    pairs.vectors.insert(pairs.vectors.end(), &vectors[k * n], &vectors[k * n] + n);
  }
  return pairs;
}

Eigenpairs leading_eigenpairs(std::size_t n, const std::vector<double>& matrix) {
  // Directions beyond the three wanted ones speed up convergence, and separate equal eigenvalues.
  const std::size_t width = std::min<std::size_t>(n, 6);
  constexpr int kSteps = 300;
  constexpr double kTolerance = 1e-11;
  // Fixed random directions, to which no structure is orthogonal.
  std::mt19937_64 random(1);
  std::vector<Column> basis(width, Column(n));
  for (Column& column : basis) {
    for (double& value : column) value = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
  }
  orthonormalise(basis);
  Eigenpairs pairs;
  double shift = 0;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<Column> image = product(n, matrix, basis);
    std::vector<double> small(width * width);
    for (std::size_t a = 0; a < width; ++a) {
      for (std::size_t b = 0; b < width; ++b) {
        small[a * width + b] = dot(basis[std::min(a, b)], image[std::max(a, b)]);
      }
    }
    pairs = symmetric_eigenpairs(width, small);
    basis = rotated(basis, pairs.vectors);
    image = rotated(image, pairs.vectors);
    const double scale = std::max(std::abs(pairs.values.front()), std::abs(pairs.values.back()));
    if (residual(image, basis, pairs.values) <= kTolerance * scale) break;
    // Iteration converges to eigenvalues far from 0. A shift moves the most negative ones close to
    // 0.
    shift = std::max(shift, -pairs.values.back());
    for (std::size_t c = 0; c < width; ++c) add(shift, basis[c], image[c]);
    orthonormalise(image);
    basis = std::move(image);
  }
  pairs.values.resize(3);
  pairs.vectors.clear();
  for (std::size_t c = 0; c < 3; ++c) {
    pairs.vectors.insert(pairs.vectors.end(), basis[c].begin(), basis[c].end());
  }
  return pairs;
}

}  // namespace ancify
