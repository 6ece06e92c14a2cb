#include "core/diffusion/integration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/diffusion/line_solver.h"
#include "core/diffusion/line_system.h"

namespace ancify {

namespace {

// Lines solved at once: enough of them that no division is waited for, few enough that their room
// stays in a core's own cache.
constexpr std::size_t kMostLanes = 32;
// Parts of a sweep that threads share: long enough to be worth the handing over.
constexpr std::size_t kLeastPart = 32768;
constexpr std::size_t kMostParts = 64;

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
        parts_(std::clamp<std::size_t>(density.size() / kLeastPart, 1, kMostParts)) {
    for (int k = 0; k < populations_; ++k) strides_[k] = density.stride(k);
    for (std::size_t i = 0; i < parts_; ++i) rooms_.emplace_back(points_, kMostLanes);
  }

  void run() {
    for (const TimeStep& step : schedule_.steps) {
      context_.throw_if_stopped();
      for (int k = 0; k < populations_; ++k) {
        if (schedule_.frozen[k] != 0) continue;
        systems_[k].assemble(grid_, step, populations_, k);
        mutate(step, k);
      }
      step_ = &step;
      sweep_all();
    }
  }

 private:
  using Index = std::array<std::size_t, kMostPopulations>;

  // New mutations have the smallest frequency in one population, and 0 in the others. What they add
  // to the mean frequency is theta / 2 in a unit of time.
  void mutate(const TimeStep& step, int population) {
    const auto& x = grid_.x;
    double mass = step.length * step.theta / 2 / x[1] * 2 / x[2];
    for (int k = 0; k < last_; ++k) mass *= 2 / x[1];
    density_.data()[strides_[population]] += mass;
  }

  // The first axis couples what the others' sweeps work on one by one.
  void sweep_all() {
    if (populations_ == 1) {
      Index at = {};
      if (schedule_.frozen[0] == 0) sweep_rows(density_.data(), at, 1, rooms_[0]);
      return;
    }
    if (schedule_.frozen[0] == 0) {
      const std::size_t bundles = (strides_[0] + kMostLanes - 1) / kMostLanes;
      share(bundles, [&](std::size_t from, std::size_t to, LineRoom& room) {
        Index at = {};
        for (std::size_t b = from; b < to; ++b) sweep_bundle(0, density_.data(), at, b, room);
      });
    }
    share(points_, [&](std::size_t from, std::size_t to, LineRoom& room) {
      Index at = {};
      if (populations_ == 2) {
        if (schedule_.frozen[1] == 0) sweep_some_rows(density_.data(), at, from, to, room);
        return;
      }
      for (at[0] = from; at[0] < to; ++at[0]) {
        sweep_below(1, density_.data() + at[0] * strides_[0], at, room);
      }
    });
  }

  // Axis `axis` and all after it, in the block that the earlier axes' indices give: the later ones
  // slice by slice, so that each slice is swept along all of them while it is in a cache.
  void sweep_below(int axis, double* block, Index& at, LineRoom& room) {
    if (schedule_.frozen[axis] == 0) {
      for (std::size_t b = 0; b * kMostLanes < strides_[axis]; ++b) {
        sweep_bundle(axis, block, at, b, room);
      }
    }
    if (axis + 1 == last_) {
      if (schedule_.frozen[last_] == 0) sweep_rows(block, at, points_, room);
      return;
    }
    for (at[axis] = 0; at[axis] < points_; ++at[axis]) {
      sweep_below(axis + 1, block + at[axis] * strides_[axis], at, room);
    }
  }

  // A bundle of the lines along an axis that is not the last: neighbours in memory.
  void sweep_bundle(int axis, double* block, Index at, std::size_t bundle, LineRoom& room) const {
    const std::size_t from = bundle * kMostLanes;
    const std::size_t lanes = std::min(kMostLanes, strides_[axis] - from);
    std::size_t rest = from;
    for (int k = last_; k > axis; --k) {
      at[k] = rest % points_;
      rest /= points_;
    }
    const Lines lines = describe_lines(axis, at, lanes, room);
    solve_lines(systems_[axis], {block + from, strides_[axis], lanes}, lines, room, level_);
  }

  void sweep_rows(double* block, const Index& at, std::size_t rows, LineRoom& room) const {
    sweep_some_rows(block, at, 0, rows, room);
  }

  // Lines along the last axis, each in one piece of memory: they are turned to lie beside each
  // other.
  void sweep_some_rows(double* block, Index at, std::size_t from, std::size_t to,
                       LineRoom& room) const {
    for (std::size_t row = from; row < to; row += kMostLanes) {
      const std::size_t lanes = std::min(kMostLanes, to - row);
      if (populations_ > 1) at[last_ - 1] = row;
      const Lines lines = describe_lines(last_, at, lanes, room);
      double* const rows = block + row * points_;
      double* const values = room.values();
      const std::size_t width = LineRoom::whole_vectors(lanes);
      for (std::size_t i = 0; i < points_; ++i) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          values[i * width + lane] = rows[lane * points_ + i];
        }
      }
      solve_lines(systems_[last_], {values, width, lanes}, lines, room, level_);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t i = 0; i < points_; ++i) {
          rows[lane * points_ + i] = values[i * width + lane];
        }
      }
    }
  }

  // What is each line's own, from the line `at` on (its index along `axis` says nothing).
  Lines describe_lines(int axis, Index at, std::size_t lanes, LineRoom& room) const {
    const LineSystem& system = systems_[axis];
    const std::size_t from = line_number(axis, at);
    const std::size_t last_line = density_.size() / points_ - 1;
    const bool has_corner = from == 0 || from + lanes > last_line;
    if (!system.has_inflow && !has_corner) return Lines::kEqual;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double inflow = 0;
      for (int j = 0; j < populations_; ++j) {
        if (j != axis) inflow += step_->migration[axis][j] * grid_.x[at[j]];
      }
      const std::size_t line = from + lane;
      room.inflow()[lane] = inflow;
      room.first()[lane] = system.first(inflow) + (line == 0 ? system.absorbed : 0);
      room.last()[lane] = system.last(inflow) + (line == last_line ? system.absorbed : 0);
      advance(axis, at);
    }
    for (std::size_t lane = lanes; lane % LineRoom::kVector != 0; ++lane) {
      room.inflow()[lane] = 0;
      room.first()[lane] = room.last()[lane] = 1;
    }
    return Lines::kOwn;
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

  template <class Part>
  void share(std::size_t n, const Part& part) {
    const std::size_t parts = std::min(parts_, n);
    const auto work = [&](std::int64_t i) {
      const auto p = static_cast<std::size_t>(i);
      part(p * n / parts, (p + 1) * n / parts, rooms_[p]);
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
  std::size_t parts_;
  std::array<std::size_t, kMostPopulations> strides_ = {};
  std::array<LineSystem, kMostPopulations> systems_;
  std::vector<LineRoom> rooms_;
  const TimeStep* step_ = nullptr;
};

}  // namespace

void integrate(Density& density, const Schedule& schedule, SimdLevel level,
               const TaskContext& context) {
  Integration(density, schedule, level, context).run();
}

}  // namespace ancify
