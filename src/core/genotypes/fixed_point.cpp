// Rounds to the nearest multiple of a step, halves to even.
#include "core/genotypes/fixed_point.h"

#include <cmath>

namespace ancify {

std::int32_t FixedSteps::coarse_part(double value) const {
  return coarse > 0 ? static_cast<std::int32_t>(std::lrint(value / coarse)) : 0;
}

std::int32_t FixedSteps::fine_part(double value, std::int32_t coarse_part) const {
  // A column of tiny numbers may have no finer step.
  return fine > 0 ? static_cast<std::int32_t>(std::lrint((value - coarse_part * coarse) / fine))
                  : 0;
}

}  // namespace ancify
