// The average-information step under bounds is the quadratic programme
//   maximise s'd - d'Id / 2  subject to  d >= lower - theta
// (Gilmour, Thompson and Cullis 1995, Biometrics 51, 1440, without the bounds). A primal active-set
// method solves it (Nocedal and Wright 2006, Numerical Optimization, algorithm 16.3) from d = 0.
#include "core/reml/fit/steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "core/exec/errors.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;
using Indices = std::vector<std::size_t>;

// A relative addition to the diagonal, so that directions without information have long but finite
// steps.
constexpr double kRidge = 1e-13;
// A pivot below this share of its diagonal is rounding error.
constexpr double kSmallestPivot = 1e-11;

Indices free_ones(const std::vector<char>& held) {
  Indices indices;
  for (std::size_t j = 0; j < held.size(); ++j) {
    if (held[j] == 0) indices.push_back(j);
  }
  return indices;
}

// The part of a symmetric matrix that belongs to some indices.
Vector part_of(const Vector& matrix, const Indices& indices, std::size_t k) {
  Vector part;
  for (const std::size_t column : indices) {
    for (const std::size_t row : indices) part.push_back(matrix[column * k + row]);
  }
  return part;
}

// The lower triangle of the k x k matrix `a` becomes its Cholesky factor. Returns the index of the
// first pivot that is not more than `smallest` times its diagonal, or k. Implemented here because
// BLAS may round differently with more threads.
std::size_t factorise(Vector& a, std::size_t k, double smallest) {
  for (std::size_t j = 0; j < k; ++j) {
    const double diagonal = a[j * k + j];
    double pivot = diagonal;
    for (std::size_t i = 0; i < j; ++i) pivot -= a[i * k + j] * a[i * k + j];
    if (!(pivot > smallest * diagonal)) return j;
    a[j * k + j] = std::sqrt(pivot);
    for (std::size_t row = j + 1; row < k; ++row) {
      double sum = a[j * k + row];
      for (std::size_t i = 0; i < j; ++i) sum -= a[i * k + row] * a[i * k + j];
      a[j * k + row] = sum / a[j * k + j];
    }
  }
  return k;
}

// Solves LL'x = b in place.
void solve(const Vector& factor, Vector& b) {
  const std::size_t k = b.size();
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t i = 0; i < j; ++i) b[j] -= factor[i * k + j] * b[i];
    b[j] /= factor[j * k + j];
  }
  for (std::size_t j = k; j-- > 0;) {
    for (std::size_t i = j + 1; i < k; ++i) b[j] -= factor[j * k + i] * b[i];
    b[j] /= factor[j * k + j];
  }
}

// The quadratic programme, in units in which the diagonal of I is about 1.
struct Programme {
  explicit Programme(const LocalModel& model) : k(model.theta.size()), score(model.score) {
    matrix = model.information;
    for (std::size_t j = 0; j < k; ++j) {
      double& diagonal = matrix[j * k + j];
      // A component without information is scaled by its score.
      diagonal += kRidge * (diagonal + score[j] * score[j]);
      unit.push_back(diagonal > 0 ? 1 / std::sqrt(diagonal) : 1);
      if (!(diagonal > 0)) diagonal = 1;
    }
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t i = 0; i < k; ++i) matrix[j * k + i] *= unit[i] * unit[j];
      score[j] *= unit[j];
      room.push_back(std::min(model.lower[j] - model.theta[j], 0.0) / unit[j]);
    }
  }

  // s - I d.
  Vector gradient(const Vector& d) const {
    Vector result = score;
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t i = 0; i < k; ++i) result[i] -= matrix[j * k + i] * d[j];
    }
    return result;
  }

  // The maximum over the free components, with the held ones fixed at `d`.
  Vector maximum(const Vector& d, const std::vector<char>& held) const {
    const Indices free = free_ones(held);
    Vector factor = part_of(matrix, free, k);
    if (factorise(factor, free.size(), 0) < free.size()) {
      throw InputError("the information of the variance components is not positive");
    }
    const Vector slope = gradient(d);
    Vector change;
    for (const std::size_t j : free) change.push_back(slope[j]);
    solve(factor, change);
    Vector result = d;
    for (std::size_t i = 0; i < free.size(); ++i) result[free[i]] += change[i];
    return result;
  }

  // sqrt(d'Id).
  double length(const Vector& d) const {
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t i = 0; i < k; ++i) sum += d[i] * matrix[j * k + i] * d[j];
    }
    return std::sqrt(std::max(sum, 0.0));
  }

  std::size_t k;
  Vector score;
  Vector matrix;
  Vector unit;  // of each component
  Vector room;  // lower - theta
};

// Moves from `d` towards `to` until the first free component meets its bound and is held. Returns
// false if none does.
bool go_until_bound(const Vector& room, const Vector& to, Vector& d, std::vector<char>& held) {
  double share = 1;
  std::size_t first = d.size();
  for (std::size_t j = 0; j < d.size(); ++j) {
    if (held[j] != 0 || to[j] >= room[j]) continue;
    const double here = (d[j] - room[j]) / (d[j] - to[j]);
    if (first == d.size() || here < share) {
      share = here;
      first = j;
    }
  }
  for (std::size_t j = 0; j < d.size(); ++j) {
    if (held[j] == 0) d[j] = std::max(d[j] + share * (to[j] - d[j]), room[j]);
  }
  if (first == d.size()) return false;
  d[first] = room[first];
  held[first] = 1;
  return true;
}

// Frees the held component with the largest gain. Returns false if none gains.
bool free_best(const Vector& gradient, std::vector<char>& held) {
  std::size_t best = held.size();
  for (std::size_t j = 0; j < held.size(); ++j) {
    if (held[j] == 0 || gradient[j] <= 0) continue;
    if (best == held.size() || gradient[j] > gradient[best]) best = j;
  }
  if (best == held.size()) return false;
  held[best] = 0;
  return true;
}

}  // namespace

std::vector<char> at_bound(const LocalModel& model) {
  std::vector<char> result;
  for (std::size_t j = 0; j < model.theta.size(); ++j) {
    result.push_back(model.theta[j] <= model.lower[j] && model.score[j] < 0 ? 1 : 0);
  }
  return result;
}

double decrement(const LocalModel& model) {
  const Programme programme(model);
  const Vector step = programme.maximum(Vector(programme.k, 0), at_bound(model));
  double sum = 0;
  for (std::size_t j = 0; j < programme.k; ++j) sum += programme.score[j] * step[j];
  return sum;
}

Step bounded_step(const LocalModel& model, double radius) {
  const Programme programme(model);
  std::vector<char> held = at_bound(model);
  Vector d(programme.k, 0);
  // Each round raises the objective, so a set of held components can recur only through rounding
  // errors.
  const std::size_t most_rounds = 20 * programme.k + 20;
  for (std::size_t round = 0; round < most_rounds; ++round) {
    if (go_until_bound(programme.room, programme.maximum(d, held), d, held)) continue;
    if (!free_best(programme.gradient(d), held)) break;
  }
  const double length = programme.length(d);
  Step step{model.theta, std::min(length, radius)};
  for (std::size_t j = 0; j < programme.k; ++j) {
    const bool whole = length <= radius;
    if (d[j] == 0) continue;
    if (whole && d[j] == programme.room[j]) {
      step.theta[j] = model.lower[j];
    } else {
      step.theta[j] += d[j] * programme.unit[j] * (whole ? 1 : radius / length);
    }
  }
  return step;
}

std::size_t first_dependent(std::vector<double> matrix, std::size_t k, double smallest) {
  return factorise(matrix, k, smallest);
}

std::vector<double> free_inverse(const std::vector<double>& information,
                                 const std::vector<char>& at_bound) {
  const std::size_t k = at_bound.size();
  const Indices free = free_ones(at_bound);
  Vector factor = part_of(information, free, k);
  const std::size_t failed = factorise(factor, free.size(), kSmallestPivot);
  if (failed < free.size()) {
    throw DependentComponent(free[failed], "component " + std::to_string(free[failed] + 1));
  }
  Vector inverse(k * k, 0);
  for (std::size_t j = 0; j < free.size(); ++j) {
    Vector column(free.size(), 0);
    column[j] = 1;
    solve(factor, column);
    for (std::size_t i = 0; i < free.size(); ++i) inverse[free[j] * k + free[i]] = column[i];
  }
  return inverse;
}

}  // namespace ancify::reml
