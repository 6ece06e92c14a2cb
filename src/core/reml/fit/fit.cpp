// Shared parts of fits.
#include "core/reml/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/exec/errors.h"

namespace ancify::reml {

namespace {

// Below this share of y, its part beyond the fixed effects is rounding error.
constexpr double kNothingLeft = 1e-12;

bool is_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

double FitData::mean_residual(int residual) const {
  if (residual_shares.empty()) return 1;
  const auto begin = residual_shares.begin() + residual * samples();
  return std::accumulate(begin, begin + samples(), 0.0) / static_cast<double>(samples());
}

void check_data(const FitData& data) {
  if (!is_finite(data.y)) throw InputError("y has a value that is not finite");
  if (!is_finite(data.x)) throw InputError("the fixed effects have a value that is not finite");
  if (data.samples() <= data.effects()) {
    throw InputError("there are " + std::to_string(data.effects()) + " fixed effects, but " +
                     std::to_string(data.samples()) +
                     " samples; there must be fewer fixed effects than samples");
  }
}

double response_unit(double whole, double left, std::int64_t freedom) {
  const double root = std::sqrt(static_cast<double>(freedom));
  const double size = left / root;
  const InputError other_units(
      "y is too large or too small for its squares; give it in other units");
  if (size > kLargestSize || (whole > 0 && whole / root < 1 / kLargestSize)) throw other_units;
  if (!(left > kNothingLeft * whole)) {
    throw InputError("y has no variance beyond the fixed effects");
  }
  if (size < 1 / kLargestSize) throw other_units;
  return std::exp2(std::floor(std::log2(size)));
}

std::string component_name(const FitData& data, std::size_t component) {
  if (component < data.names.size()) return "'" + data.names[component] + "'";
  return "component " + std::to_string(component + 1);
}

std::vector<double> with_default_bounds(std::vector<double> lower, double variance, int residuals) {
  for (std::size_t j = 0; j < lower.size(); ++j) {
    const bool genetic = j + static_cast<std::size_t>(residuals) < lower.size();
    if (std::isnan(lower[j])) lower[j] = genetic ? 0 : 1e-6 * variance;
  }
  return lower;
}

}  // namespace ancify::reml
