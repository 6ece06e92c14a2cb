// A density in 3 dimensions through time.
#include "diffusion.h"
#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) { return diffusion_kernel(3, 20, 0.02); }

}  // namespace ancify::bench
