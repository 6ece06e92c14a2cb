// Solves a_i x_(i-1) + b_i x_i + c_i x_(i+1) = d_i by the Thomas algorithm (Gaussian elimination
// without pivoting; Press and others, Numerical Recipes), a line in each lane of a vector.
#include "core/diffusion/line_solver.h"

#include "core/device/lanes.h"

namespace ancify::diffusion {

namespace {

// Values after the last lane may belong to another thread, so they stay untouched.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void load_some(const double* from, std::size_t lanes, Lanes& to) {
  to = Lanes{};
  for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane];
}

template <class Lanes>
ANCIFY_ALWAYS_INLINE void store_some(const Lanes& from, std::size_t lanes, double* to) {
  for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane];
}

// The values of adjacent lines at one point, as vectors.
template <class Lanes>
class Row {
 public:
  explicit Row(std::size_t lanes) : lanes_(lanes), whole_(lanes - lanes % kLanesIn<Lanes>) {}

  // Applies of(lane, value) to the vectors of `from` and writes the results to `result`, which
  // holds whole vectors.
  template <class Of>
  ANCIFY_ALWAYS_INLINE void read(const double* from, double* result, const Of& of) const {
    Lanes value;
    for (std::size_t lane = 0; lane < whole_; lane += kLanesIn<Lanes>) {
      load(from + lane, value);
      of(lane, value);
      store(value, result + lane);
    }
    if (whole_ == lanes_) return;
    load_some(from + whole_, lanes_ - whole_, value);
    of(whole_, value);
    store(value, result + whole_);
  }

  // Applies of(lane, value) in place to `values`, which holds whole vectors, and copies the results
  // to `to`.
  template <class Of>
  ANCIFY_ALWAYS_INLINE void write(double* values, double* to, const Of& of) const {
    Lanes value;
    for (std::size_t lane = 0; lane < whole_; lane += kLanesIn<Lanes>) {
      load(values + lane, value);
      of(lane, value);
      store(value, values + lane);
      store(value, to + lane);
    }
    if (whole_ == lanes_) return;
    load(values + whole_, value);
    of(whole_, value);
    store(value, values + whole_);
    store_some(value, lanes_ - whole_, to + whole_);
  }

 private:
  std::size_t lanes_;
  std::size_t whole_;
};

// The forward sweep of distinct lines, with their elimination. All lanes finish row i before row i
// + 1: divisions within a lane depend on each other, but different lanes overlap.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void eliminate(const LineSystem& system, const LineBundle& bundle,
                                    LineElimination& elimination, double* values) {
  const std::size_t points = system.diagonal.size();
  const std::size_t width = whole_vectors(bundle.lanes);
  const Row<Lanes> row(bundle.lanes);
  const double* const inflows = elimination.inflow();
  const double* const first = elimination.first();
  const double* const last = elimination.last();
  for (std::size_t i = 0; i < points; ++i) {
    double* const now = values + i * width;
    double* const pivots = elimination.pivots() + i * width;
    double* const uppers = elimination.uppers() + i * width;
    const double* const diagonals = i == 0 ? first : i + 1 == points ? last : nullptr;
    const double diagonal_of_all = system.diagonal[i];
    const double lower = system.lower[i];
    const double lower_by_inflow = system.lower_by_inflow[i];
    const double upper = system.upper[i];
    const double upper_by_inflow = system.upper_by_inflow[i];
    const auto of = [&](std::size_t lane, Lanes& value) ANCIFY_INLINED {
      Lanes inflow;
      load(inflows + lane, inflow);
      Lanes diagonal = Lanes{} + diagonal_of_all;
      if (diagonals != nullptr) load(diagonals + lane, diagonal);
      if (i > 0) {
        Lanes upper_before;
        Lanes before;
        load(uppers - width + lane, upper_before);
        load(now - width + lane, before);
        const Lanes below = lower + lower_by_inflow * inflow;
        diagonal -= below * upper_before;
        value -= below * before;
      }
      const Lanes pivot = 1 / diagonal;
      value *= pivot;
      store(pivot, pivots + lane);
      store((upper + upper_by_inflow * inflow) * pivot, uppers + lane);
    };
    row.read(bundle.data + i * bundle.stride, now, of);
  }
}

// The forward sweep with the elimination of an earlier call, which needs no divisions.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void substitute(const LineSystem& system, const LineBundle& bundle,
                                     LineElimination& elimination, double* values) {
  const std::size_t points = system.diagonal.size();
  const std::size_t width = whole_vectors(bundle.lanes);
  const Row<Lanes> row(bundle.lanes);
  const double* const inflows = elimination.inflow();
  for (std::size_t i = 0; i < points; ++i) {
    double* const now = values + i * width;
    const double* const pivots = elimination.pivots() + i * width;
    const double lower = system.lower[i];
    const double lower_by_inflow = system.lower_by_inflow[i];
    const auto of = [&](std::size_t lane, Lanes& value) ANCIFY_INLINED {
      Lanes pivot;
      load(pivots + lane, pivot);
      if (i > 0) {
        Lanes inflow;
        Lanes before;
        load(inflows + lane, inflow);
        load(now - width + lane, before);
        value -= (lower + lower_by_inflow * inflow) * before;
      }
      value *= pivot;
    };
    row.read(bundle.data + i * bundle.stride, now, of);
  }
}

template <class Lanes>
ANCIFY_ALWAYS_INLINE void solve_own_lines(const LineSystem& system, const LineBundle& bundle,
                                          LineElimination& elimination, double* values) {
  const std::size_t points = system.diagonal.size();
  const std::size_t width = whole_vectors(bundle.lanes);
  const Row<Lanes> row(bundle.lanes);
  if (elimination.is_done) {
    substitute<Lanes>(system, bundle, elimination, values);
  } else {
    eliminate<Lanes>(system, bundle, elimination, values);
    elimination.is_done = true;
  }
  for (std::size_t i = points; i-- > 0;) {
    const double* const uppers = elimination.uppers() + i * width;
    double* const now = values + i * width;
    const auto of = [&](std::size_t lane, Lanes& value) ANCIFY_INLINED {
      if (i + 1 == points) return;
      Lanes upper;
      Lanes after;
      load(uppers + lane, upper);
      load(now + width + lane, after);
      value -= upper * after;
    };
    row.write(now, bundle.data + i * bundle.stride, of);
  }
}

// Solves lines that share the system's own elimination.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void solve_equal_lines(const LineSystem& system, const LineBundle& bundle,
                                            double* values) {
  const std::size_t points = system.diagonal.size();
  const std::size_t width = whole_vectors(bundle.lanes);
  const Row<Lanes> row(bundle.lanes);
  for (std::size_t i = 0; i < points; ++i) {
    double* const now = values + i * width;
    const double pivot = system.pivot[i];
    const double lower_pivot = system.lower_pivot[i];
    const auto of = [&](std::size_t lane, Lanes& value) ANCIFY_INLINED {
      value *= pivot;
      if (i == 0) return;
      Lanes before;
      load(now - width + lane, before);
      value -= before * lower_pivot;
    };
    row.read(bundle.data + i * bundle.stride, now, of);
  }
  for (std::size_t i = points; i-- > 0;) {
    double* const now = values + i * width;
    const double upper_pivot = system.upper_pivot[i];
    const auto of = [&](std::size_t lane, Lanes& value) ANCIFY_INLINED {
      if (i + 1 == points) return;
      Lanes after;
      load(now + width + lane, after);
      value -= after * upper_pivot;
    };
    row.write(now, bundle.data + i * bundle.stride, of);
  }
}

template <class Lanes>
ANCIFY_ALWAYS_INLINE void solve(const LineSystem& system, const LineBundle& bundle,
                                LineElimination* elimination, double* values) {
  if (elimination == nullptr) {
    solve_equal_lines<Lanes>(system, bundle, values);
  } else {
    solve_own_lines<Lanes>(system, bundle, *elimination, values);
  }
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX2 void solve_avx2(const LineSystem& system, const LineBundle& bundle,
                                   LineElimination* elimination, double* values) {
  solve<Avx2Lanes>(system, bundle, elimination, values);
}

ANCIFY_TARGET_AVX512 void solve_avx512(const LineSystem& system, const LineBundle& bundle,
                                       LineElimination* elimination, double* values) {
  solve<Avx512Lanes>(system, bundle, elimination, values);
}

#endif

}  // namespace

LineElimination::LineElimination(std::size_t points, std::size_t most_lanes)
    : most_lanes_(whole_vectors(most_lanes)),
      size_(points * most_lanes_),
      workspace_(new double[2 * size_ + 3 * most_lanes_]()) {}

void solve_lines(const LineSystem& system, const LineBundle& bundle, LineElimination* elimination,
                 double* values, SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return solve_avx512(system, bundle, elimination, values);
  if (level == SimdLevel::kAvx2) return solve_avx2(system, bundle, elimination, values);
#endif
  static_cast<void>(level);
  solve<PlainLanes>(system, bundle, elimination, values);
}

}  // namespace ancify::diffusion
