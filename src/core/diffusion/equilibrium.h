// The density of a population at the balance of mutation, drift and selection.
#pragma once

#include <memory>

#include "core/diffusion/density.h"
#include "core/diffusion/model.h"

namespace ancify::diffusion {

// The equilibrium density of one population on a grid. The density is infinite at 0; there it is
// set to the value at the next point. As in dadi, the size only scales the density: selection acts
// as at size 1. InputError for a size of 0 or less, a negative theta, non-finite parameters, and
// selection so strong that the density overflows.
Density equilibrium_density(const Equilibrium& equilibrium, std::shared_ptr<const Grid> grid);

}  // namespace ancify::diffusion
