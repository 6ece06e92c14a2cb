#include "core/diffusion/line_solver.h"

namespace ancify {

namespace {

// The compiler makes of it what the level has: one vector, two, or four.
using Lanes = double __attribute__((vector_size(64), aligned(8), may_alias));
constexpr std::size_t kVector = LineRoom::kVector;
static_assert(sizeof(Lanes) == kVector * sizeof(double), "a vector is one of doubles");

ANCIFY_ALWAYS_INLINE Lanes& lanes_at(double* p) { return *reinterpret_cast<Lanes*>(p); }

ANCIFY_ALWAYS_INLINE void store(const Lanes& from, double* to, std::size_t lanes) {
  if (lanes >= kVector) {
    lanes_at(to) = from;
  } else {
    for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane];
  }
}

// Thomas's algorithm: rows before columns of lanes, so that one lane's divisions wait for each
// other while others' go on.
ANCIFY_ALWAYS_INLINE void solve_own_lines(const LineSystem& system, const LineBundle& bundle,
                                          LineRoom& room) {
  const std::size_t points = system.diagonal.size();
  const std::size_t width = LineRoom::whole_vectors(bundle.lanes);
  double* const values = room.values();
  double* const pivots = room.pivots();
  for (std::size_t lane = 0; lane < width; lane += kVector) {
    const Lanes inflow = lanes_at(room.inflow() + lane);
    const Lanes pivot = 1 / lanes_at(room.first() + lane);
    lanes_at(values + lane) = lanes_at(bundle.data + lane) * pivot;
    lanes_at(pivots + lane) = (system.upper[0] + system.upper_by_inflow[0] * inflow) * pivot;
  }
  for (std::size_t i = 1; i < points; ++i) {
    const double* const before = values + (i - 1) * width;
    const double* const pivots_before = pivots + (i - 1) * width;
    double* const in = bundle.data + i * bundle.stride;
    const bool is_last = i + 1 == points;
    for (std::size_t lane = 0; lane < width; lane += kVector) {
      const Lanes inflow = lanes_at(room.inflow() + lane);
      const Lanes lower = system.lower[i] + system.lower_by_inflow[i] * inflow;
      const Lanes upper = system.upper[i] + system.upper_by_inflow[i] * inflow;
      Lanes diagonal = lanes_at(room.last() + lane);
      if (!is_last) diagonal = system.diagonal[i] - Lanes{};
      const Lanes pivot =
          1 / (diagonal - lower * lanes_at(const_cast<double*>(pivots_before) + lane));
      lanes_at(values + i * width + lane) =
          (lanes_at(in + lane) - lower * lanes_at(const_cast<double*>(before) + lane)) * pivot;
      lanes_at(pivots + i * width + lane) = upper * pivot;
    }
  }
  for (std::size_t i = points; i-- > 0;) {
    double* const out = bundle.data + i * bundle.stride;
    for (std::size_t lane = 0; lane < width; lane += kVector) {
      Lanes& value = lanes_at(values + i * width + lane);
      if (i + 1 < points) {
        value -= lanes_at(pivots + i * width + lane) * lanes_at(values + (i + 1) * width + lane);
      }
      store(value, out + lane, bundle.lanes - lane);
    }
  }
}

ANCIFY_ALWAYS_INLINE void solve_equal_lines(const LineSystem& system, const LineBundle& bundle,
                                            LineRoom& room) {
  const std::size_t points = system.diagonal.size();
  const std::size_t width = LineRoom::whole_vectors(bundle.lanes);
  double* const values = room.values();
  for (std::size_t lane = 0; lane < width; lane += kVector) {
    lanes_at(values + lane) = lanes_at(bundle.data + lane) * system.pivot[0];
  }
  for (std::size_t i = 1; i < points; ++i) {
    double* const in = bundle.data + i * bundle.stride;
    double* const now = values + i * width;
    for (std::size_t lane = 0; lane < width; lane += kVector) {
      lanes_at(now + lane) = lanes_at(in + lane) * system.pivot[i] -
                             lanes_at(now - width + lane) * system.lower_pivot[i];
    }
  }
  for (std::size_t i = points; i-- > 0;) {
    double* const out = bundle.data + i * bundle.stride;
    for (std::size_t lane = 0; lane < width; lane += kVector) {
      Lanes& value = lanes_at(values + i * width + lane);
      if (i + 1 < points) {
        value -= lanes_at(values + (i + 1) * width + lane) * system.upper_pivot[i];
      }
      store(value, out + lane, bundle.lanes - lane);
    }
  }
}

ANCIFY_ALWAYS_INLINE void solve_plain(const LineSystem& system, const LineBundle& bundle,
                                      Lines lines, LineRoom& room) {
  if (lines == Lines::kEqual) {
    solve_equal_lines(system, bundle, room);
  } else {
    solve_own_lines(system, bundle, room);
  }
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX2 void solve_avx2(const LineSystem& system, const LineBundle& bundle, Lines lines,
                                   LineRoom& room) {
  solve_plain(system, bundle, lines, room);
}

ANCIFY_TARGET_AVX512 void solve_avx512(const LineSystem& system, const LineBundle& bundle,
                                       Lines lines, LineRoom& room) {
  solve_plain(system, bundle, lines, room);
}

#endif

}  // namespace

LineRoom::LineRoom(std::size_t points, std::size_t most_lanes)
    : most_lanes_(whole_vectors(most_lanes)),
      size_(points * most_lanes_),
      room_(new double[2 * size_ + 3 * most_lanes_]()) {}

void solve_lines(const LineSystem& system, const LineBundle& bundle, Lines lines, LineRoom& room,
                 SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return solve_avx512(system, bundle, lines, room);
  if (level == SimdLevel::kAvx2) return solve_avx2(system, bundle, lines, room);
#endif
  static_cast<void>(level);
  solve_plain(system, bundle, lines, room);
}

}  // namespace ancify
