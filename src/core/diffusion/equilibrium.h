// The density of a population at the balance of mutation, drift and selection.
#pragma once

#include <memory>

#include "core/diffusion/density.h"
#include "core/diffusion/model.h"

namespace ancify::diffusion {

// The equilibrium density on a grid, of one population. The value at 0, which would be infinite,
// equals that at the next point. As in dadi, the size only scales the density: selection acts as at
// size 1. InputError for a size not above 0, a negative theta, non-finite parameters, and selection
// under which the density overflows.
Density equilibrium_density(const Equilibrium& equilibrium, std::shared_ptr<const Grid> grid);

}  // namespace ancify::diffusion
