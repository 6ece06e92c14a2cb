// Markov chain Monte Carlo with uniform weight on allowed chains. A pivot rotates all points on one
// side of a point at random (Madras and Sokal 1988, J Stat Phys 50:109). In a narrow sphere most
// pivots fail, so every second move is a crankshaft: points between two others rotate about the
// line through both. Moves and their reverses are equally likely.
#include "core/chromatin/self_avoiding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "core/chromatin/map_pairs.h"
#include "core/exec/errors.h"

namespace ancify::chromatin {
namespace {

using Point = std::array<double, 3>;
using Rotation = std::array<Point, 3>;

constexpr double kTwoPi = 6.283185307179586;

// The standard's engine is portable, but its distributions are not.
class Random {
 public:
  explicit Random(std::seed_seq& seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  // A uniform integer from 0 to n - 1.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(n));
  }

 private:
  std::mt19937_64 engine_;
};

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

double square(const Point& a) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }

// The rotation of the unit quaternion (w, x, y, z).
Rotation rotation(double w, double x, double y, double z) {
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

// All rotations are equally likely (Shoemake 1992, Graphics Gems III, 124).
Rotation any_rotation(Random& random) {
  const double share = random.uniform();
  const double a = kTwoPi * random.uniform();
  const double b = kTwoPi * random.uniform();
  const double first = std::sqrt(1 - share);
  const double second = std::sqrt(share);
  return rotation(first * std::sin(a), first * std::cos(a), second * std::sin(b),
                  second * std::cos(b));
}

// A rotation by a random angle about a non-zero axis.
Rotation rotation_about(const Point& axis, Random& random) {
  const double half = kTwoPi / 2 * random.uniform();
  const double scale = std::sin(half) / std::sqrt(square(axis));
  return rotation(std::cos(half), scale * axis[0], scale * axis[1], scale * axis[2]);
}

Point rotated(const Point& point, const Point& centre, const Rotation& by) {
  const Point from = minus(point, centre);
  Point out = centre;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t l = 0; l < 3; ++l) out[k] += by[k][l] * from[l];
  }
  return out;
}

std::int64_t side_of_cube(std::int64_t points) {
  std::int64_t side = 1;
  while (side * side * side < points) ++side;
  return side;
}

// A chain that winds through the grid points of a cube.
std::vector<Point> compact_chain(std::int64_t points) {
  const std::int64_t side = side_of_cube(points);
  const double middle = static_cast<double>(side - 1) / 2;
  std::vector<Point> chain;
  for (std::int64_t i = 0; i < points; ++i) {
    const std::int64_t layer = i / (side * side);
    const std::int64_t line = i / side;  // of all layers
    const std::int64_t row = line % side;
    const std::int64_t place = i % side;
    chain.push_back({static_cast<double>(line % 2 == 0 ? place : side - 1 - place) - middle,
                     static_cast<double>(layer % 2 == 0 ? row : side - 1 - row) - middle,
                     static_cast<double>(layer) - middle});
  }
  return chain;
}

class Chain {
 public:
  explicit Chain(const SelfAvoidingModel& model)
      : points_(compact_chain(model.points)),
        least_(model.diameter * model.diameter * (1 - 1e-12)),
        most_(model.radius * model.radius * (1 + 1e-12)) {}

  const std::vector<Point>& points() const { return points_; }

  // Rotates all points on one side of a point.
  void pivot(Random& random) {
    const auto n = static_cast<std::int64_t>(points_.size());
    const std::int64_t at = 1 + random.below(n - 2);
    const Rotation by = any_rotation(random);
    if (random.below(2) == 0) {
      rotate(at + 1, n, at, by);
    } else {
      rotate(0, at, at, by);
    }
  }

  // Rotates the points between two others.
  void crankshaft(Random& random) {
    const auto n = static_cast<std::int64_t>(points_.size());
    const std::int64_t a = random.below(n);
    const std::int64_t b = random.below(n);
    const std::int64_t first = std::min(a, b);
    const std::int64_t last = std::max(a, b);
    if (last - first < 2) return;
    const Point axis = minus(point(last), point(first));
    if (square(axis) == 0) return;
    rotate(first + 1, last, first, rotation_about(axis, random));
  }

 private:
  const Point& point(std::int64_t i) const { return points_[static_cast<std::size_t>(i)]; }

  // Rotates the points [first, end) about `centre`, if the chain stays allowed.
  void rotate(std::int64_t first, std::int64_t end, std::int64_t centre, const Rotation& by) {
    moved_.clear();
    for (std::int64_t i = first; i < end; ++i) {
      moved_.push_back(rotated(point(i), point(centre), by));
      if (square(moved_.back()) > most_) return;
    }
    if (meets(0, first, first) || meets(end, static_cast<std::int64_t>(points_.size()), first)) {
      return;
    }
    std::copy(moved_.begin(), moved_.end(), points_.begin() + first);
  }

  // True if a moved point, the first of which is `start`, meets one of the points [first, end).
  // Neighbours on the chain stay one unit apart.
  bool meets(std::int64_t first, std::int64_t end, std::int64_t start) const {
    for (std::size_t m = 0; m < moved_.size(); ++m) {
      const std::int64_t i = start + static_cast<std::int64_t>(m);
      for (std::int64_t j = first; j < end; ++j) {
        if (j - i > 1 || i - j > 1) {
          if (square(minus(moved_[m], point(j))) < least_) return true;
        }
      }
    }
    return false;
  }

  std::vector<Point> points_;
  std::vector<Point> moved_;
  double least_;
  double most_;
};

}  // namespace

double least_radius(std::int64_t points) {
  return std::sqrt(3.0) * static_cast<double>(side_of_cube(points) - 1) / 2;
}

void self_avoiding_chains(const SelfAvoidingModel& model, std::uint32_t seed, std::int64_t cells,
                          double* coordinates, JobControl& control, int threads) {
  if (model.radius < least_radius(model.points)) {
    throw InputError("`radius` must be at least " + std::to_string(least_radius(model.points)) +
                     " for " + std::to_string(model.points) + " points, not " +
                     std::to_string(model.radius));
  }
  for_cells(control, threads, cells, [&](std::int64_t cell) {
    std::seed_seq sequence{seed, static_cast<std::uint32_t>(cell)};
    Random random(sequence);
    Chain chain(model);
    for (std::int64_t move = 0; move < model.moves; ++move) {
      if (random.below(2) == 0) {
        chain.pivot(random);
      } else {
        chain.crankshaft(random);
      }
    }
    double* out = coordinates + cell * 3 * model.points;
    for (const Point& point : chain.points()) {
      for (std::int64_t k = 0; k < 3; ++k) {
        out[k * model.points] = point[static_cast<std::size_t>(k)];
      }
      ++out;
    }
  });
}

}  // namespace ancify::chromatin
