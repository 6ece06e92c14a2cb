// Wright-Fisher diffusion: d phi / dt = sum over i of (1/2 d^2/dx_i^2 [x_i (1 - x_i) phi / nu_i] -
// d/dx_i [M_i phi]) + new mutations, with M_i = 2 g_i (h_i + (1 - 2 h_i) x_i) x_i (1 - x_i) + sum
// over j of m_ij (x_j - x_i) (Kimura 1964, J. Appl. Prob. 1:177; Gutenkunst and others 2009, PLoS
// Genet. 5:e1000695). A time step is alternating-direction implicit: one axis after the other.
#include "core/diffusion/integration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/diffusion/line_solver.h"
#include "core/diffusion/line_system.h"
#include "core/diffusion/transpose.h"

namespace ancify::diffusion {

namespace {

// Lines solved at once: enough to hide the latency of divisions, and few enough that their
// workspace values stay in a core's private cache.
constexpr std::size_t kMostLanes = 64;
constexpr std::size_t kLeastLanes = 32;
constexpr std::size_t kWorkspaceDoubles = 4096;
// The fewest values in a part of a sweep for an idle thread: enough to justify the handover. A
// common grid, 40 points for three populations, has four parts.
constexpr std::size_t kLeastPart = 16000;
constexpr std::size_t kMostParts = 64;
// Up to this many populations, a bundle's elimination is kept in a core's cache while steps repeat.
// With more populations it would come from memory, which takes as long as the divisions.
constexpr int kMostAxesKept = 2;

// The private workspace of a part of a sweep.
struct LineWorkspace {
  LineWorkspace(std::size_t points, std::size_t most_lanes)
      : values(new double[points * whole_vectors(most_lanes)]()), elimination(points, most_lanes) {}
  std::unique_ptr<double[]> values;
  LineElimination elimination;
};

class Integration {
 public:
  Integration(Density& density, const Schedule& schedule, SimdLevel level,
              const TaskContext& context)
      : density_(density),
        grid_(density.grid()),
        schedule_(schedule),
        level_(level),
        context_(context),
        populations_(density.populations()),
        last_(populations_ - 1),
        points_(grid_.x.size()),
        most_lanes_(std::min(std::clamp(kWorkspaceDoubles / points_, kLeastLanes, kMostLanes),
                             density.size() / points_)),
        slices_together_(std::max<std::size_t>(most_lanes_ / points_, 1)),
        parts_(populations_ == 1
                   ? 1
                   : std::clamp<std::size_t>(density.size() / kLeastPart, 1, kMostParts)) {
    for (int k = 0; k < populations_; ++k) strides_[k] = density.stride(k);
    for (std::size_t i = 0; i < parts_; ++i) workspaces_.emplace_back(points_, most_lanes_);
    if (populations_ <= kMostAxesKept && parts_ == 1) {
      const std::size_t bundles = bundles_of(density_.size() / points_);
      for (int k = 0; k < populations_; ++k) {
        for (std::size_t b = 0; b < bundles; ++b) kept_[k].emplace_back(points_, most_lanes_);
      }
    }
  }

  void run() {
    for (const TimeStep& step : schedule_.steps) {
      step_ = &step;
      for (auto& of_axis : kept_) {
        for (LineElimination& elimination : of_axis) elimination.is_done = false;
      }
      for (int k = 0; k < populations_; ++k) {
        if (schedule_.frozen[k] == 0) systems_[k].assemble(grid_, step, populations_, k);
      }
      const double mutations = mutation_mass(grid_.view(), step.length, step.theta, populations_);
      for (std::int64_t i = 0; i < step.times; ++i) {
        for (int k = 0; k < populations_; ++k) {
          if (schedule_.mutates[k] != 0) density_.data()[strides_[k]] += mutations;
        }
        sweep_all();
      }
    }
  }

 private:
  using Index = std::array<std::size_t, kMostPopulations>;

  // Sweeps along all axes. The first axis couples the slices that the other sweeps handle one by
  // one, so it is swept first, over the whole density.
  void sweep_all() {
    if (populations_ == 1) {
      Index at = {};
      context_.throw_if_stopped();
      if (schedule_.frozen[0] == 0) sweep_rows(density_.data(), at, 0, 1, workspaces_[0]);
      return;
    }
    if (schedule_.frozen[0] == 0) {
      share(bundles_of(strides_[0]),
            [&](std::size_t from, std::size_t to, LineWorkspace& workspace) {
              Index at = {};
              for (std::size_t b = from; b < to; ++b)
                sweep_bundle(0, density_.data(), at, b, workspace);
            });
    }
    share(points_, [&](std::size_t from, std::size_t to, LineWorkspace& workspace) {
      Index at = {};
      if (populations_ == 2) {
        if (schedule_.frozen[1] == 0) sweep_rows(density_.data(), at, from, to, workspace);
      } else {
        sweep_blocks(0, density_.data(), from, to, at, workspace);
      }
    });
  }

  // Sweeps along all axes after `axis`. `block` holds the values at fixed indices of the earlier
  // axes, with a smaller block for each index of `axis`. Blocks `from` to `to` are swept, each
  // along all later axes while it is in a cache.
  void sweep_blocks(int axis, double* block, std::size_t from, std::size_t to, Index& at,
                    LineWorkspace& workspace) {
    const bool are_slices = axis + 2 == last_;
    const std::size_t together = are_slices ? slices_together_ : 1;
    for (at[axis] = from; at[axis] < to; at[axis] += together) {
      double* const first = block + at[axis] * strides_[axis];
      // The second condition is redundant, but tells compilers where the recursion ends.
      if (are_slices || axis + 3 >= kMostPopulations) {
        sweep_slices(first, std::min(together, to - at[axis]), at, workspace);
      } else {
        sweep_bundles(axis + 1, first, at, workspace);
        sweep_blocks(axis + 1, first, 0, points_, at, workspace);
      }
    }
  }

  // Sweeps a few neighbouring slices along the last two axes. Their lines together fill a bundle.
  void sweep_slices(double* first, std::size_t slices, const Index& at, LineWorkspace& workspace) {
    if (slices == 1) {
      sweep_bundles(last_ - 1, first, at, workspace);
    } else if (schedule_.frozen[last_ - 1] == 0) {
      sweep_columns(first, slices, at, workspace);
    }
    if (schedule_.frozen[last_] == 0) sweep_rows(first, at, 0, slices * points_, workspace);
  }

  // Sweeps neighbouring slices along the last axis but one. Their lines are copied side by side.
  void sweep_columns(double* first, std::size_t slices, const Index& at,
                     LineWorkspace& workspace) const {
    const std::size_t lanes = slices * points_;
    const std::size_t stride = whole_vectors(lanes);
    double* const values = workspace.values.get();
    const auto for_each_piece = [&](auto copy) {
      for (std::size_t i = 0; i < points_; ++i) {
        for (std::size_t slice = 0; slice < slices; ++slice) {
          copy(first + slice * strides_[last_ - 2] + i * points_,
               values + i * stride + slice * points_);
        }
      }
    };
    LineElimination* const own = describe_lines(last_ - 1, at, lanes, new_elimination(workspace));
    for_each_piece([&](double* piece, double* to) { std::copy_n(piece, points_, to); });
    solve_lines(systems_[last_ - 1], {values, stride, lanes}, own, values, level_);
    for_each_piece([&](double* piece, double* from) { std::copy_n(from, points_, piece); });
  }

  void sweep_bundles(int axis, double* block, const Index& at, LineWorkspace& workspace) {
    if (schedule_.frozen[axis] != 0) return;
    for (std::size_t b = 0; b < bundles_of(strides_[axis]); ++b) {
      sweep_bundle(axis, block, at, b, workspace);
    }
  }

  // The width of a bundle, in whole vectors. Widths are nearly equal; the last may be smaller.
  std::size_t width_of(std::size_t lines) const {
    const std::size_t bundles = (lines + most_lanes_ - 1) / most_lanes_;
    return whole_vectors((lines + bundles - 1) / bundles);
  }
  std::size_t bundles_of(std::size_t lines) const {
    const std::size_t width = width_of(lines);
    return (lines + width - 1) / width;
  }

  // Sweeps one bundle of lines along any axis but the last; the lines are neighbours in memory.
  void sweep_bundle(int axis, double* block, Index at, std::size_t bundle,
                    LineWorkspace& workspace) {
    const std::size_t width = width_of(strides_[axis]);
    const std::size_t from = bundle * width;
    const std::size_t lanes = std::min(width, strides_[axis] - from);
    std::size_t rest = from;
    for (int k = last_; k > axis; --k) {
      at[k] = rest % points_;
      rest /= points_;
    }
    LineElimination* const own =
        describe_lines(axis, at, lanes, elimination_of(axis, bundle, workspace));
    solve_lines(systems_[axis], {block + from, strides_[axis], lanes}, own, workspace.values.get(),
                level_);
  }

  // Sweeps rows `from` to `to` along the last axis. Each is contiguous in memory, so rows are
  // transposed to lie side by side. Row 0 is the first row of slice `at`.
  void sweep_rows(double* block, Index at, std::size_t from, std::size_t to,
                  LineWorkspace& workspace) {
    const std::size_t width = width_of(to - from);
    const std::size_t first_slice = populations_ > 2 ? at[last_ - 2] : 0;
    for (std::size_t row = from; row < to; row += width) {
      const std::size_t lanes = std::min(width, to - row);
      if (populations_ > 1) at[last_ - 1] = row % points_;
      if (populations_ > 2) at[last_ - 2] = first_slice + row / points_;
      LineElimination* const own =
          describe_lines(last_, at, lanes, elimination_of(last_, row / width, workspace));
      const std::size_t stride = whole_vectors(lanes);
      double* const values = workspace.values.get();
      const Table rows = {block + row * points_, points_};
      const Table columns = {values, stride};
      transpose(rows, columns, lanes, points_, level_);
      solve_lines(systems_[last_], {values, stride, lanes}, own, values, level_);
      transpose(columns, rows, points_, lanes, level_);
    }
  }

  static LineElimination& new_elimination(LineWorkspace& workspace) {
    workspace.elimination.is_done = false;
    return workspace.elimination;
  }

  LineElimination& elimination_of(int axis, std::size_t bundle, LineWorkspace& workspace) {
    return kept_[axis].empty() ? new_elimination(workspace) : kept_[axis][bundle];
  }

  // Writes the inflow and the ends of the diagonal of each line, from the line `at` on. The index
  // of `at` along `axis` is ignored. Returns null, and writes nothing, if the lines do not differ.
  LineElimination* describe_lines(int axis, Index at, std::size_t lanes,
                                  LineElimination& elimination) const {
    if (elimination.is_done) return &elimination;
    const LineSystem& system = systems_[axis];
    const std::size_t from = line_number(axis, at);
    const std::size_t last_line = density_.size() / points_ - 1;
    const bool has_corner = from == 0 || from + lanes > last_line;
    if (!system.has_inflow && !has_corner) return nullptr;
    double* const inflow = elimination.inflow();
    double* const first = elimination.first();
    double* const last = elimination.last();
    for (std::size_t lane = 0; lane < lanes;) {
      lane = add_inflows(axis, at, lane, lanes, inflow);
      advance(axis, at);
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      first[lane] = system.first(inflow[lane]);
      last[lane] = system.last(inflow[lane]);
    }
    if (from == 0) first[0] += system.absorbed;
    if (from + lanes > last_line) last[lanes - 1] += system.absorbed;
    for (std::size_t lane = lanes; lane % kLaneVector != 0; ++lane) {
      inflow[lane] = 0;
      first[lane] = last[lane] = 1;
    }
    return &elimination;
  }

  // Writes the inflow of lines from `lane` on, until the fastest index has reached its last value.
  // Returns the next lane.
  std::size_t add_inflows(int axis, Index& at, std::size_t lane, std::size_t lanes,
                          double* inflow) const {
    if (populations_ == 1) {
      inflow[lane] = 0;
      return lane + 1;
    }
    double others = 0;
    const int fastest = axis == last_ ? last_ - 1 : last_;
    for (int j = 0; j < populations_; ++j) {
      if (j != axis && j != fastest) others += step_->migration[axis][j] * grid_.x[at[j]];
    }
    const double rate = step_->migration[axis][fastest];
    const std::size_t end = std::min(lanes, lane + points_ - at[fastest]);
    for (std::size_t k = at[fastest]; lane < end; ++k, ++lane) {
      inflow[lane] = others + rate * grid_.x[k];
    }
    at[fastest] = points_ - 1;
    return end;
  }

  std::size_t line_number(int axis, const Index& at) const {
    std::size_t number = 0;
    for (int k = 0; k < populations_; ++k) {
      if (k != axis) number = number * points_ + at[k];
    }
    return number;
  }

  void advance(int axis, Index& at) const {
    for (int k = last_; k >= 0; --k) {
      if (k == axis) continue;
      if (++at[k] < points_) return;
      at[k] = 0;
    }
  }

  // Calls part(from, to, workspace) for parts of 0 to n, on idle threads too.
  template <class Part>
  void share(std::size_t n, const Part& part) {
    const std::size_t parts = std::min(parts_, n);
    const auto work = [&](std::int64_t i) {
      const auto p = static_cast<std::size_t>(i);
      context_.throw_if_stopped();
      part(p * n / parts, (p + 1) * n / parts, workspaces_[p]);
    };
    if (parts == 1) {
      work(0);
    } else {
      context_.share(static_cast<std::int64_t>(parts), work);
    }
  }

  Density& density_;
  const Grid& grid_;
  const Schedule& schedule_;
  SimdLevel level_;
  const TaskContext& context_;
  int populations_;
  int last_;
  std::size_t points_;
  std::size_t most_lanes_;
  std::size_t slices_together_;
  std::size_t parts_;
  std::array<std::size_t, kMostPopulations> strides_ = {};
  std::array<LineSystem, kMostPopulations> systems_;
  std::vector<LineWorkspace> workspaces_;
  std::array<std::vector<LineElimination>, kMostPopulations> kept_;  // of each axis' bundles
  const TimeStep* step_ = nullptr;
};

}  // namespace

void integrate(Density& density, const Schedule& schedule, SimdLevel level,
               const TaskContext& context) {
  Integration(density, schedule, level, context).run();
}

}  // namespace ancify::diffusion
