// Solves a LineSystem for many lines at once, one in each lane of the processor's vectors.
#pragma once

#include <cstddef>
#include <memory>

#include "core/device/simd.h"
#include "core/diffusion/line_system.h"

namespace ancify::diffusion {

// Room for a bundle of lines while they are solved: point by point, the lanes beside each other.
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

// Lines beside each other, the points of each `stride` apart. They may lie in the room's values()
// themselves, whole vectors apart.
struct LineBundle {
  double* data;
  std::size_t stride;
  std::size_t lanes;
};

// Whether lines differ in more than their values.
enum class Lines {
  kOwn,    // `room` has the inflow of each, and the first and last element of its diagonal
  kEqual,  // no inflow, and nothing absorbed
};

void solve_lines(const LineSystem& system, const LineBundle& bundle, Lines lines, LineRoom& room,
                 SimdLevel level);

}  // namespace ancify::diffusion
