// The density of a population at the balance of mutation, drift and selection.
#pragma once

#include <memory>

#include "core/diffusion/density.h"
#include "core/diffusion/model.h"

namespace ancify::diffusion {

// The equilibrium density on a grid, of one population. The value at 0, which would be infinite, is
// that of the next point. As in dadi the size is only a factor: selection acts as at size 1.
// InputError for a size not above 0, a negative theta, numbers that are not finite, and selection
// under which the density overflows.
Density equilibrium_density(const Equilibrium& equilibrium, std::shared_ptr<const Grid> grid);

}  // namespace ancify::diffusion
