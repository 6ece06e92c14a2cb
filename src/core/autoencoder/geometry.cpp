// Let G = -J D^2 J / 2 have the eigenvalues l and vectors v, and let K be the three largest ones
// above 0. The structure's Gram matrix is P = sum over K of l v v', a spectral function of G. So a
// derivative B with respect to P maps to the following one with respect to G (Daleckii and Krein
// 1965, AMS Translations 47:1):
//
//   V_K V_K' B V_K V_K' + sum over k in K of v_k y_k' + y_k v_k',
//   y_k = l_k (l_k I - (G - P))^-1 (I - V_K V_K') B v_k.
//
// Equal eigenvalues within K are harmless. For an eigenvalue outside K, the divisor is l_k minus
// that eigenvalue.
#include "core/autoencoder/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/chromatin/gram.h"
#include "core/numerics/cholesky.h"
#include "core/numerics/symmetric_eigen.h"
#include "core/numerics/vectors.h"

namespace ancify::autoencoder {

namespace {

using Column = std::vector<double>;

// The positive eigenpairs among the three leading ones.
struct Leading {
  Column values;
  std::vector<Column> vectors;
};

Leading leading_of(std::size_t n, const std::vector<double>& gram) {
  const Eigenpairs pairs = leading_eigenpairs(n, gram);
  Leading leading;
  for (std::size_t k = 0; k < pairs.values.size(); ++k) {
    if (pairs.values[k] <= 0) continue;
    const auto first = pairs.vectors.begin() + static_cast<std::ptrdiff_t>(k * n);
    leading.values.push_back(pairs.values[k]);
    leading.vectors.emplace_back(first, first + static_cast<std::ptrdiff_t>(n));
  }
  return leading;
}

// matrix += scale (a b' + b a') / 2
void add_symmetric(double scale, const Column& a, const Column& b, std::vector<double>& matrix) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      matrix[i * n + j] += scale / 2 * (a[i] * b[j] + b[i] * a[j]);
    }
  }
}

Column product(const std::vector<double>& matrix, const Column& column) {
  const std::size_t n = column.size();
  Column out(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) out[i] += matrix[i * n + j] * column[j];
  }
  return out;
}

// Converts the derivative with respect to P, `by_part`, to one with respect to G. `rest`: G - P.
std::vector<double> through_part(const Leading& leading, const std::vector<double>& rest,
                                 const std::vector<double>& by_part, double damping) {
  const std::size_t n = leading.vectors.front().size();
  std::vector<double> by_gram(n * n, 0.0);
  for (std::size_t k = 0; k < leading.values.size(); ++k) {
    const double value = leading.values[k];
    Column outside = product(by_part, leading.vectors[k]);
    for (const Column& vector : leading.vectors) {
      const double inside = dot(vector, outside);
      for (std::size_t i = 0; i < n; ++i) outside[i] -= inside * vector[i];
      add_symmetric(inside, vector, leading.vectors[k], by_gram);
    }
    std::vector<double> gaps(n * n);
    for (std::size_t i = 0; i < n * n; ++i) gaps[i] = -rest[i];
    for (std::size_t i = 0; i < n; ++i) {
      gaps[i * n + i] += value + damping * leading.values.front();
    }
    CholeskyFactor(n, std::move(gaps)).solve(outside);
    add_symmetric(2 * value, leading.vectors[k], outside, by_gram);
  }
  return by_gram;
}

}  // namespace

SquaredError geometry_error(std::int64_t points, const double* distances, const double* target,
                            double damping, double scale, double* gradient) {
  const auto n = static_cast<std::size_t>(points);
  std::vector<double> gram(distances, distances + n * n);
  chromatin::distances_to_gram(n, gram);
  const Leading leading = leading_of(n, gram);
  std::vector<double> part(n * n, 0.0);
  for (std::size_t k = 0; k < leading.values.size(); ++k) {
    add_symmetric(leading.values[k], leading.vectors[k], leading.vectors[k], part);
  }
  SquaredError error;
  std::vector<double> by_part(n * n, 0.0);
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const double wanted = target[i * n + j];
      if (std::isnan(wanted)) continue;
      const double square = part[i * n + i] + part[j * n + j] - 2 * part[i * n + j];
      const double length = std::sqrt(std::max(square, 0.0));
      error.sum += (length - wanted) * (length - wanted);
      ++error.known;
      // Coincident points have no direction in which to separate.
      const double slope = length > 1e-9 * wanted ? (length - wanted) / length : 0;
      by_part[i * n + i] += slope;
      by_part[j * n + j] += slope;
      by_part[i * n + j] -= slope;
      by_part[j * n + i] -= slope;
    }
  }
  if (gradient == nullptr || leading.values.empty()) return error;
  std::vector<double>& rest = gram;
  for (std::size_t i = 0; i < n * n; ++i) rest[i] -= part[i];
  // The rows of `rest`, `by_part` and G sum to 0, so J changes nothing.
  const std::vector<double> by_gram = through_part(leading, rest, by_part, damping);
  for (std::size_t i = 0; i < n * n; ++i) gradient[i] -= scale * by_gram[i] * distances[i];
  return error;
}

}  // namespace ancify::autoencoder
