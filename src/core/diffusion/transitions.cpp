#include "core/diffusion/transitions.h"

#include <algorithm>
#include <array>

#include "core/diffusion/model.h"

namespace ancify::diffusion {

namespace {

// The indices of a density's values, one after the other.
class Counter {
 public:
  explicit Counter(const Density& density)
      : points_(density.points()), populations_(density.populations()) {}

  int operator[](int population) const { return index_[static_cast<std::size_t>(population)]; }

  void advance() {
    for (int k = populations_ - 1; k >= 0; --k) {
      int& index = index_[static_cast<std::size_t>(k)];
      if (++index < points_) return;
      index = 0;
    }
  }

 private:
  int points_;
  int populations_;
  std::array<int, kMostPopulations> index_ = {};
};

// What is at one frequency, as values at the two grid points around it that have the same integral.
struct Spike {
  int lower;
  double at_lower;
  double at_upper;
};

Spike spike_at(const Grid& grid, double frequency) {
  const auto& x = grid.x;
  const int last = grid.points() - 1;
  const auto found = std::lower_bound(x.begin(), x.end(), frequency) - x.begin();
  const int upper = std::clamp(static_cast<int>(found), 1, last);
  const int lower = upper - 1;
  const double width = grid.width[lower];
  const double lower_share = (x[upper] - frequency) / width;
  const double upper_share = (frequency - x[lower]) / width;
  const double before = lower > 0 ? grid.width[lower - 1] : 0;
  const double after = upper < last ? grid.width[upper] : 0;
  const double height = 2 / (lower_share * before + width + upper_share * after);
  return {lower, lower_share * height, upper_share * height};
}

double mixed_frequency(const Grid& grid, const Counter& at, const std::vector<double>& shares) {
  double frequency = 0;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    frequency += shares[k] * grid.x[at[static_cast<int>(k)]];
  }
  return frequency;
}

}  // namespace

Density with_new_population(const Density& density, const std::vector<double>& shares) {
  const Grid& grid = density.grid();
  const auto points = static_cast<std::size_t>(density.points());
  Density wider(density.shared_grid(), density.populations() + 1);
  Counter at(density);
  for (std::size_t i = 0; i < density.size(); ++i, at.advance()) {
    // What one population has lost or fixed is not there for two.
    if (density.populations() == 1 && (i == 0 || i + 1 == points)) continue;
    const Spike spike = spike_at(grid, mixed_frequency(grid, at, shares));
    double* const values = wider.data() + i * points + spike.lower;
    values[0] = spike.at_lower * density.data()[i];
    values[1] = spike.at_upper * density.data()[i];
  }
  return wider;
}

Density with_pulse(const Density& density, int destination, const std::vector<double>& shares) {
  const Grid& grid = density.grid();
  const std::size_t stride = density.stride(destination);
  Density after(density.shared_grid(), density.populations());
  Counter at(density);
  for (std::size_t i = 0; i < density.size(); ++i, at.advance()) {
    const auto old = static_cast<std::size_t>(at[destination]);
    const double mass = density.data()[i] / grid.inverse_weight[old];
    const Spike spike = spike_at(grid, mixed_frequency(grid, at, shares));
    double* const values =
        after.data() + i - old * stride + static_cast<std::size_t>(spike.lower) * stride;
    values[0] += spike.at_lower * mass;
    values[stride] += spike.at_upper * mass;
  }
  return after;
}

Density without_population(const Density& density, int population) {
  const std::size_t stride = density.stride(population);
  const auto points = static_cast<std::size_t>(density.points());
  Density fewer(density.shared_grid(), density.populations() - 1);
  for (std::size_t i = 0; i < fewer.size(); ++i) {
    const double* const line = density.data() + i / stride * stride * points + i % stride;
    for (std::size_t k = 0; k < points; ++k) {
      fewer.data()[i] += line[k * stride] / density.grid().inverse_weight[k];
    }
  }
  return fewer;
}

Density reordered(const Density& density, const std::vector<int>& order) {
  Density other(density.shared_grid(), density.populations());
  std::vector<std::size_t> strides;
  strides.reserve(order.size());
  for (const int population : order) strides.push_back(density.stride(population));
  Counter at(other);
  for (std::size_t i = 0; i < other.size(); ++i, at.advance()) {
    std::size_t from = 0;
    for (std::size_t k = 0; k < strides.size(); ++k) {
      from += strides[k] * static_cast<std::size_t>(at[static_cast<int>(k)]);
    }
    other.data()[i] = density.data()[from];
  }
  return other;
}

}  // namespace ancify::diffusion
