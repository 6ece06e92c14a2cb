// Solves a LineSystem for many lines at once, one in each lane of the processor's vectors.
#pragma once

#include <cstddef>
#include <memory>

#include "core/device/simd.h"
#include "core/diffusion/line_system.h"

namespace ancify::diffusion {

// The number of lanes of the widest level's vector. A row's last vector may have unused lanes.
constexpr std::size_t kLaneVector = 8;
inline std::size_t whole_vectors(std::size_t lanes) {
  return (lanes + kLaneVector - 1) / kLaneVector * kLaneVector;
}

// The systems of a bundle of distinct lines, and their elimination. Values are ordered by point,
// then by lane.
class LineElimination {
 public:
  LineElimination(std::size_t points, std::size_t most_lanes);

  double* inflow() { return workspace_.get(); }
  double* first() { return inflow() + most_lanes_; }  // elements of the diagonal
  double* last() { return first() + most_lanes_; }
  double* pivots() { return last() + most_lanes_; }  // the inverse pivot of each row
  double* uppers() { return pivots() + size_; }

  bool is_done = false;

 private:
  std::size_t most_lanes_;
  std::size_t size_;
  std::unique_ptr<double[]> workspace_;
};

// Adjacent lines: lane k begins at data[k], and its points are `stride` apart. `data` may be the
// `values` of solve_lines(), with a stride of whole vectors.
struct LineBundle {
  double* data;
  std::size_t stride;
  std::size_t lanes;
};

// Replaces the right-hand sides in `bundle` by the solutions; `values` holds whole vectors at each
// point. Without an elimination, no line has inflow or is absorbed at a corner. An elimination is
// computed once and then reused. Neither reuse nor the level changes the result.
void solve_lines(const LineSystem& system, const LineBundle& bundle, LineElimination* elimination,
                 double* values, SimdLevel level);

}  // namespace ancify::diffusion
