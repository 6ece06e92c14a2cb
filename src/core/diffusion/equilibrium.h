// The density of a population of constant size, where mutation, drift and selection balance.
#pragma once

#include <memory>

#include "core/diffusion/density.h"
#include "core/diffusion/model.h"

namespace ancify::diffusion {

// At 0 it would be infinite: there it is what it is at the next point. InputError for what no
// population can have.
Density equilibrium_density(const Equilibrium& equilibrium, std::shared_ptr<const Grid> grid);

}  // namespace ancify::diffusion
