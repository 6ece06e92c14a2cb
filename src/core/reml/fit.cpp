#include "core/reml/fit.h"

#include <cmath>

namespace ancify::reml {

std::string component_name(const FitData& data, std::size_t component) {
  if (component < data.names.size()) return "'" + data.names[component] + "'";
  return "component " + std::to_string(component + 1);
}

std::vector<double> with_default_bounds(std::vector<double> lower, double variance) {
  for (std::size_t j = 0; j < lower.size(); ++j) {
    if (std::isnan(lower[j])) lower[j] = j + 1 < lower.size() ? 0 : 1e-6 * variance;
  }
  return lower;
}

}  // namespace ancify::reml
