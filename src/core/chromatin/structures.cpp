// Classical scaling: the three leading eigenvectors of the Gram matrix -J D^2 J / 2, with J = I -
// 11'/n, times the roots of their eigenvalues (Torgerson 1952, Psychometrika 17:401). Then stress
// majorisation (SMACOF; de Leeuw 1977; Borg and Groenen 2005, Modern Multidimensional Scaling, 8):
//
//   X <- V^+ B(X) X,  b_ij = -w_ij d_ij / |x_i - x_j|,  v_ij = -w_ij,
//
// with zero row sums, and weights w of 1 for observed pairs and 0 for others. No step raises the
// stress, the sum of w_ij (d_ij - |x_i - x_j|)^2. Unobserved pairs start from the shortest path
// over observed ones.
#include "core/chromatin/structures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/chromatin/gram.h"
#include "core/chromatin/map_pairs.h"
#include "core/numerics/cholesky.h"
#include "core/numerics/symmetric_eigen.h"

namespace ancify::chromatin {
namespace {

// Points x 3, the point first.
using Points = std::array<std::vector<double>, 3>;

// The largest connected component of points by observed pairs; the first of equals.
std::vector<std::size_t> largest_group(std::size_t n, const std::vector<double>& map) {
  std::vector<bool> seen(n, false);
  std::vector<std::size_t> largest;
  for (std::size_t first = 0; first < n; ++first) {
    if (seen[first]) continue;
    std::vector<std::size_t> group = {first};
    seen[first] = true;
    for (std::size_t next = 0; next < group.size(); ++next) {
      for (std::size_t j = 0; j < n; ++j) {
        if (seen[j] || std::isnan(map[group[next] * n + j])) continue;
        seen[j] = true;
        group.push_back(j);
      }
    }
    if (group.size() > largest.size()) largest = std::move(group);
  }
  std::sort(largest.begin(), largest.end());
  return largest;
}

// Distances among the points of a group.
class GroupMap {
 public:
  GroupMap(std::size_t n, const std::vector<double>& map, const std::vector<std::size_t>& group)
      : n_(group.size()), distances_(n_ * n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        distances_[i * n_ + j] = map[group[i] * n + group[j]];
        complete_ = complete_ && !std::isnan(distances_[i * n_ + j]);
      }
    }
  }

  std::size_t n() const { return n_; }
  bool complete() const { return complete_; }
  const double* row(std::size_t i) const { return &distances_[i * n_]; }

  // Distances, with shortest paths over observed pairs for unobserved ones.
  std::vector<double> shortest_paths() const {
    std::vector<double> paths = distances_;
    if (complete_) return paths;
    for (double& path : paths) {
      if (std::isnan(path)) path = std::numeric_limits<double>::infinity();
    }
    for (std::size_t k = 0; k < n_; ++k) {
      for (std::size_t i = 0; i < n_; ++i) {
        const double to_k = paths[i * n_ + k];
        for (std::size_t j = 0; j < n_; ++j) {
          paths[i * n_ + j] = std::min(paths[i * n_ + j], to_k + paths[k * n_ + j]);
        }
      }
    }
    for (std::size_t i = 0; i < n_ * n_; ++i) {
      if (!std::isnan(distances_[i])) paths[i] = distances_[i];
    }
    return paths;
  }

 private:
  std::size_t n_;
  bool complete_ = true;
  std::vector<double> distances_;
};

Points classical_scaling(const GroupMap& map) {
  const std::size_t n = map.n();
  Points points;
  for (std::vector<double>& axis : points) axis.assign(n, 0.0);
  if (n == 2) {
    points[0] = {-map.row(0)[1] / 2, map.row(0)[1] / 2};
    return points;
  }
  std::vector<double> gram = map.shortest_paths();
  distances_to_gram(n, gram);
  const Eigenpairs leading = leading_eigenpairs(n, gram);
  for (std::size_t k = 0; k < 3; ++k) {
    const double root = std::sqrt(std::max(leading.values[k], 0.0));
    for (std::size_t i = 0; i < n; ++i) points[k][i] = root * leading.vectors[k * n + i];
  }
  return points;
}

// Multiplies by V^+. If all pairs are observed, it divides by n.
class InverseWeights {
 public:
  explicit InverseWeights(const GroupMap& map) : n_(map.n()) {
    if (map.complete()) return;
    // V + 11'/n has the same product with columns of sum 0, and is positive definite.
    std::vector<double> weights(n_ * n_, 1 / static_cast<double>(n_));
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        if (i == j || std::isnan(map.row(i)[j])) continue;
        weights[i * n_ + j] -= 1;
        weights[i * n_ + i] += 1;
      }
    }
    factor_.emplace(n_, std::move(weights));
  }

  void multiply(std::vector<double>& column) const {
    if (factor_) {
      factor_->solve(column);
      return;
    }
    for (double& value : column) value /= static_cast<double>(n_);
  }

 private:
  std::size_t n_;
  std::optional<CholeskyFactor> factor_;
};

// The stress of `x`; `image` becomes B(X) X.
double majorise(const GroupMap& map, const Points& x, Points& image) {
  for (std::vector<double>& axis : image) axis.assign(map.n(), 0.0);
  double stress = 0;
  for (std::size_t i = 1; i < map.n(); ++i) {
    const double* row = map.row(i);
    for (std::size_t j = 0; j < i; ++j) {
      if (std::isnan(row[j])) continue;
      const std::array<double, 3> step = {x[0][i] - x[0][j], x[1][i] - x[1][j], x[2][i] - x[2][j]};
      const double length = std::sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
      stress += (row[j] - length) * (row[j] - length);
      const double ratio = length > 0 ? row[j] / length : 0;
      for (std::size_t k = 0; k < 3; ++k) {
        image[k][i] += ratio * step[k];
        image[k][j] -= ratio * step[k];
      }
    }
  }
  return stress;
}

double sum_of_squares(const GroupMap& map) {
  double sum = 0;
  for (std::size_t i = 1; i < map.n(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!std::isnan(map.row(i)[j])) sum += map.row(i)[j] * map.row(i)[j];
    }
  }
  return sum;
}

// Rotates points to their principal axes. Each axis has a positive sum of cubes, which selects one
// of two mirror images whatever the order of points.
void orient(Points& x) {
  const std::size_t n = x[0].size();
  std::vector<double> moments(9, 0.0);
  for (std::vector<double>& axis : x) {
    double mean = 0;
    for (const double value : axis) mean += value / static_cast<double>(n);
    for (double& value : axis) value -= mean;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t i = 0; i < n; ++i) moments[a * 3 + b] += x[a][i] * x[b][i];
    }
  }
  const Eigenpairs axes = symmetric_eigenpairs(3, moments);
  const Points old = x;
  for (std::size_t k = 0; k < 3; ++k) {
    double cubes = 0;
    for (std::size_t i = 0; i < n; ++i) {
      x[k][i] = 0;
      for (std::size_t a = 0; a < 3; ++a) x[k][i] += axes.vectors[k * 3 + a] * old[a][i];
      cubes += x[k][i] * x[k][i] * x[k][i];
    }
    if (cubes >= 0) continue;
    for (double& value : x[k]) value = -value;
  }
}

}  // namespace

Structure fit_structure(std::int64_t points, const double* map, const StructureSettings& settings) {
  const auto n = static_cast<std::size_t>(points);
  const std::vector<double> square = square_map(points, map);
  const std::vector<std::size_t> group = largest_group(n, square);
  Structure fit;
  fit.coordinates.assign(3 * n, std::numeric_limits<double>::quiet_NaN());
  if (group.size() < 2) return fit;
  const GroupMap distances(n, square, group);
  fit.squares = sum_of_squares(distances);
  Points x = classical_scaling(distances);
  const InverseWeights weights(distances);
  // Stress below this is rounding error.
  const double least = 1e-26 * fit.squares;
  for (int step = 0;; ++step) {
    Points image;
    fit.stress.push_back(majorise(distances, x, image));
    const double stress = fit.stress.back();
    const double before = step > 0 ? fit.stress[fit.stress.size() - 2] : 0;
    const bool settled = step > 0 && before - stress <= settings.tolerance * before;
    if (step == settings.iterations || stress <= least || settled) break;
    for (std::vector<double>& axis : image) weights.multiply(axis);
    x = std::move(image);
  }
  orient(x);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < group.size(); ++i) fit.coordinates[k * n + group[i]] = x[k][i];
  }
  return fit;
}

void fit_structures(std::int64_t points, std::int64_t cells, const double* maps,
                    const StructureSettings& settings, double* coordinates, double* stress,
                    int* steps, JobControl& control, int threads) {
  for_cells(control, threads, cells, [&](std::int64_t cell) {
    const Structure fit = fit_structure(points, maps + cell * pairs_of(points), settings);
    std::copy(fit.coordinates.begin(), fit.coordinates.end(), coordinates + cell * 3 * points);
    const bool known = !fit.stress.empty();
    stress[cell] = known && fit.squares > 0 ? std::sqrt(fit.stress.back() / fit.squares) : 0;
    steps[cell] = known ? static_cast<int>(fit.stress.size()) - 1 : 0;
  });
}

}  // namespace ancify::chromatin
