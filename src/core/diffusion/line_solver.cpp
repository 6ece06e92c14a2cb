// Solves a_i x_(i-1) + b_i x_i + c_i x_(i+1) = d_i by the Thomas algorithm (Gaussian elimination
// without pivoting; Press and others, Numerical Recipes), a line in each lane of a vector.
#include "core/diffusion/line_solver.h"

namespace ancify::diffusion {

namespace {

// Eight doubles. The compiler makes one, two or four vectors of them, by the instruction set.
using Lanes = double __attribute__((vector_size(64)));
constexpr std::size_t kVector = LineRoom::kVector;
static_assert(sizeof(Lanes) == kVector * sizeof(double), "a vector is one of doubles");

// Lanes at any address of a double.
struct __attribute__((packed, may_alias)) UnalignedLanes {
  Lanes lanes;
};
ANCIFY_ALWAYS_INLINE UnalignedLanes& at(double* p) { return *reinterpret_cast<UnalignedLanes*>(p); }

// Values after the last lane may belong to another thread, so they are not touched.
ANCIFY_ALWAYS_INLINE void load(double* from, Lanes& to, std::size_t lanes) {
  if (lanes >= kVector) {
    to = at(from).lanes;
  } else {
    to = Lanes{};
    for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane];
  }
}

ANCIFY_ALWAYS_INLINE void store(const Lanes& from, double* to, std::size_t lanes) {
  if (lanes >= kVector) {
    at(to).lanes = from;
  } else {
    for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane];
  }
}

// Solves lines that differ. All lanes do row i before row i + 1: the divisions of a lane depend on
// each other, but those of different lanes overlap.
ANCIFY_ALWAYS_INLINE void solve_own_lines(const LineSystem& system, const LineBundle& bundle,
                                          LineRoom& room) {
  const std::size_t points = system.diagonal.size();
  const std::size_t width = LineRoom::whole_vectors(bundle.lanes);
  double* const values = room.values();
  double* const pivots = room.pivots();
  for (std::size_t lane = 0; lane < width; lane += kVector) {
    const Lanes inflow = at(room.inflow() + lane).lanes;
    const Lanes pivot = 1 / at(room.first() + lane).lanes;
    Lanes value;
    load(bundle.data + lane, value, bundle.lanes - lane);
    at(values + lane).lanes = value * pivot;
    at(pivots + lane).lanes = (system.upper[0] + system.upper_by_inflow[0] * inflow) * pivot;
  }
  for (std::size_t i = 1; i < points; ++i) {
    double* const before = values + (i - 1) * width;
    double* const pivots_before = pivots + (i - 1) * width;
    double* const in = bundle.data + i * bundle.stride;
    const bool is_last = i + 1 == points;
    for (std::size_t lane = 0; lane < width; lane += kVector) {
      const Lanes inflow = at(room.inflow() + lane).lanes;
      const Lanes lower = system.lower[i] + system.lower_by_inflow[i] * inflow;
      const Lanes upper = system.upper[i] + system.upper_by_inflow[i] * inflow;
      Lanes diagonal = at(room.last() + lane).lanes;
      if (!is_last) diagonal = system.diagonal[i] - Lanes{};  // the same in each lane
      const Lanes pivot = 1 / (diagonal - lower * at(pivots_before + lane).lanes);
      Lanes value;
      load(in + lane, value, bundle.lanes - lane);
      at(values + i * width + lane).lanes = (value - lower * at(before + lane).lanes) * pivot;
      at(pivots + i * width + lane).lanes = upper * pivot;
    }
  }
  for (std::size_t i = points; i-- > 0;) {
    double* const out = bundle.data + i * bundle.stride;
    for (std::size_t lane = 0; lane < width; lane += kVector) {
      Lanes value = at(values + i * width + lane).lanes;
      if (i + 1 < points) {
        value -= at(pivots + i * width + lane).lanes * at(values + (i + 1) * width + lane).lanes;
      }
      at(values + i * width + lane).lanes = value;
      store(value, out + lane, bundle.lanes - lane);
    }
  }
}

// Solves lines that have the system's own elimination in common.
ANCIFY_ALWAYS_INLINE void solve_equal_lines(const LineSystem& system, const LineBundle& bundle,
                                            LineRoom& room) {
  const std::size_t points = system.diagonal.size();
  const std::size_t width = LineRoom::whole_vectors(bundle.lanes);
  double* const values = room.values();
  for (std::size_t lane = 0; lane < width; lane += kVector) {
    Lanes value;
    load(bundle.data + lane, value, bundle.lanes - lane);
    at(values + lane).lanes = value * system.pivot[0];
  }
  for (std::size_t i = 1; i < points; ++i) {
    double* const in = bundle.data + i * bundle.stride;
    double* const now = values + i * width;
    for (std::size_t lane = 0; lane < width; lane += kVector) {
      Lanes value;
      load(in + lane, value, bundle.lanes - lane);
      at(now + lane).lanes =
          value * system.pivot[i] - at(now - width + lane).lanes * system.lower_pivot[i];
    }
  }
  for (std::size_t i = points; i-- > 0;) {
    double* const out = bundle.data + i * bundle.stride;
    for (std::size_t lane = 0; lane < width; lane += kVector) {
      Lanes value = at(values + i * width + lane).lanes;
      if (i + 1 < points) {
        value -= at(values + (i + 1) * width + lane).lanes * system.upper_pivot[i];
      }
      at(values + i * width + lane).lanes = value;
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

}  // namespace ancify::diffusion
