// A density in 2 dimensions through time.
#include "diffusion.h"
#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) { return diffusion_kernel(2, 60, 0.05); }

}  // namespace ancify::bench
