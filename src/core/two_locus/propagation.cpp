// exp(t G) v by uniformisation (Jensen 1953, Skand. Aktuarietidskr. 36:87): with d the fastest
// rate, exp(t G) = exp(-t d) sum over k of t^k (G + d)^k / k!. All terms are nonnegative, so
// nothing cancels and each value has a small relative error. Long times are cut into parts.
#include "core/two_locus/propagation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/device/lanes.h"

namespace ancify::two_locus {

namespace {

// The largest expected number of changes in a part. exp(-100) is far above the smallest double.
constexpr double kMostChanges = 100;
// Limits the work to minutes.
constexpr double kMostParts = 1e7;
// Below this share, terms no longer change values.
constexpr double kSmallTerm = std::numeric_limits<double>::epsilon() / 8;

// next = factor (G + shift) now, and the sum of all terms so far.
struct Series {
  const RateMatrix* rates;
  const Bundle* recombination;
  double shift;
  const Bundle* now;
  Bundle* next;
  Bundle* sum;
};

// A bundle in registers.
template <class Lanes>
using Registers = LaneBlock<Lanes, kBundle>;

// sum += row of the matrix times the values
template <class Lanes>
ANCIFY_ALWAYS_INLINE void add_row(const SparseMatrix& matrix, std::size_t row, const Bundle* values,
                                  Registers<Lanes>& sum) {
  for (auto k = matrix.starts[row]; k < matrix.starts[row + 1]; ++k) {
    Registers<Lanes> value;
    value.load_from(values[matrix.columns[k]].data());
    for (std::size_t r = 0; r < sum.kRegisters; ++r)
      sum.lanes[r] += matrix.values[k] * value.lanes[r];
  }
}

// Returns whether any term is still large.
template <class Lanes>
ANCIFY_ALWAYS_INLINE bool term(const Series& series, double factor) {
  using Numbers = Registers<Lanes>;
  const std::size_t rows = series.rates->fixed.rows();
  Numbers recombination;
  recombination.load_from(series.recombination->data());
  Numbers large = {};
  for (std::size_t row = 0; row < rows; ++row) {
    Numbers value;
    Numbers recombined = {};
    Numbers sum;
    value.load_from(series.now[row].data());
    sum.load_from(series.sum[row].data());
    for (Lanes& lanes : value.lanes) lanes *= series.shift;
    add_row(series.rates->fixed, row, series.now, value);
    add_row(series.rates->recombination, row, series.now, recombined);
    for (std::size_t r = 0; r < Numbers::kRegisters; ++r) {
      value.lanes[r] = factor * (value.lanes[r] + recombination.lanes[r] * recombined.lanes[r]);
      sum.lanes[r] += value.lanes[r];
      const Lanes excess = value.lanes[r] - kSmallTerm * sum.lanes[r];
      large.lanes[r] = excess > large.lanes[r] ? excess : large.lanes[r];
    }
    value.store_to(series.next[row].data());
    sum.store_to(series.sum[row].data());
  }
  Bundle most;
  large.store_to(most.data());
  for (const double excess : most) {
    if (excess > 0) return true;
  }
  return false;
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX2 bool term_avx2(const Series& series, double factor) {
  return term<Avx2Lanes>(series, factor);
}

ANCIFY_TARGET_AVX512 bool term_avx512(const Series& series, double factor) {
  return term<Avx512Lanes>(series, factor);
}

#endif

bool add_term(const Series& series, double factor, SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return term_avx512(series, factor);
  if (level == SimdLevel::kAvx2) return term_avx2(series, factor);
#endif
  static_cast<void>(level);
  return term<PlainLanes>(series, factor);
}

}  // namespace

void propagate(const RateMatrix& rates, const Bundle& recombination, double time, Values& values,
               SimdLevel level, const TaskContext& context) {
  const double most = *std::max_element(recombination.begin(), recombination.end());
  const double fastest = rates.fastest_fixed + most * rates.fastest_recombination;
  const double parts = std::max(1.0, std::ceil(time * fastest / kMostChanges));
  if (!(parts <= kMostParts)) {
    throw InputError("two-locus statistics of " + std::to_string(time * fastest) +
                     " expected changes of a sample take too long: shorten the epoch, or lower "
                     "rates of recombination or of migration");
  }
  Values now(values.size());
  Values next(values.size());
  const double length = time / parts;
  const double changes = length * fastest;
  for (std::int64_t part = 0; part < static_cast<std::int64_t>(parts); ++part) {
    context.throw_if_stopped();
    now = values;
    for (std::int64_t term = 1;; ++term) {
      const auto k = static_cast<double>(term);
      const Series series = {&rates,     &recombination, fastest,
                             now.data(), next.data(),    values.data()};
      const bool is_large = add_term(series, length / k, level);
      now.swap(next);
      if (!is_large && k >= changes) break;
    }
    const double scale = std::exp(-changes);
    for (Bundle& bundle : values) {
      for (double& value : bundle) value *= scale;
    }
  }
}

Values transformed(const SparseMatrix& transition, const Values& values) {
  Values result(transition.rows());
  for (std::size_t row = 0; row < transition.rows(); ++row) {
    for (auto k = transition.starts[row]; k < transition.starts[row + 1]; ++k) {
      const Bundle& from = values[transition.columns[k]];
      for (std::size_t r = 0; r < kBundle; ++r) result[row][r] += transition.values[k] * from[r];
    }
  }
  return result;
}

}  // namespace ancify::two_locus
