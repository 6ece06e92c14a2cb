// Solves a LineSystem for many lines at once, one in each lane of the processor's vectors.
#pragma once

#include <cstddef>
#include <memory>

#include "core/device/simd.h"
#include "core/diffusion/line_system.h"

namespace ancify::diffusion {

// Room for a bundle of lines while they are solved. Values are ordered by point, then by lane.
class LineRoom {
 public:
  static constexpr std::size_t kVector = 8;
  static std::size_t whole_vectors(std::size_t lanes) {
    return (lanes + kVector - 1) / kVector * kVector;
  }

  LineRoom(std::size_t points, std::size_t most_lanes);

  double* values() { return room_.get(); }
  double* pivots() { return values() + size_; }
  double* inflow() { return pivots() + size_; }
  double* first() { return inflow() + most_lanes_; }
  double* last() { return first() + most_lanes_; }

 private:
  std::size_t most_lanes_;
  std::size_t size_;
  std::unique_ptr<double[]> room_;
};

// Lines side by side: lane k begins at data[k], and its points are `stride` apart. `data` may be
// the room's values(), with a stride of whole vectors.
struct LineBundle {
  double* data;
  std::size_t stride;
  std::size_t lanes;
};

// Whether lines differ in their systems too, and not only in their values.
enum class Lines {
  kOwn,    // `room` has each line's inflow, and the first and last element of its diagonal
  kEqual,  // no line has inflow or is absorbed at a corner
};

// Replaces the right-hand sides in `bundle` by the solutions. The level does not change the result.
void solve_lines(const LineSystem& system, const LineBundle& bundle, Lines lines, LineRoom& room,
                 SimdLevel level);

}  // namespace ancify::diffusion
