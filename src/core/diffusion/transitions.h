// What happens to a density at one moment.
#pragma once

#include <vector>

#include "core/diffusion/density.h"

namespace ancify::diffusion {

// With one population more, the last, whose alleles come from those that there are by these shares,
// which sum to 1. A share of 1 is a split.
Density with_new_population(const Density& density, const std::vector<double>& shares);

// The same populations, one of which takes alleles from all by these shares; shares[destination] is
// what it keeps.
Density with_pulse(const Density& density, int destination, const std::vector<double>& shares);

// Of all populations but this one, by the trapezoid rule.
Density without_population(const Density& density, int population);

// order[k]: where the new population k was.
Density reordered(const Density& density, const std::vector<int>& order);

}  // namespace ancify::diffusion
