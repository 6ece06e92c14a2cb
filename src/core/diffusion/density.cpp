// Allocates a density's values and defines their order in memory.
#include "core/diffusion/density.h"

#include <limits>
#include <string>
#include <utility>

#include "core/exec/errors.h"

namespace ancify::diffusion {

Density::Density(std::shared_ptr<const Grid> grid, int populations)
    : grid_(std::move(grid)), populations_(populations), size_(1) {
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double) / 2;
  for (int k = 0; k < populations; ++k) {
    size_ *= static_cast<std::size_t>(points());
    if (size_ > most / static_cast<std::size_t>(points())) {
      throw InputError("a grid of " + std::to_string(points()) + " points for " +
                       std::to_string(populations) + " populations is too large for memory");
    }
  }
  values_.resize(size_);
}

std::size_t Density::stride(int population) const {
  return stride_of(points(), populations_, population);
}

}  // namespace ancify::diffusion
