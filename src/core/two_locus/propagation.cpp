// exp(t G) v by uniformisation (Jensen 1953, Skand. Aktuarietidskr. 36:87): with d the fastest
// rate, exp(t G) = exp(-t d) sum over k of t^k (G + d)^k / k!. No number is below 0, so nothing
// cancels and each value has a small relative error. Long times are cut into parts.
#include "core/two_locus/propagation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

// All levels round products before they are added.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

namespace ancify::two_locus {

namespace {

// The most changes that are expected in a part. exp(-100) is far above the smallest double.
constexpr double kMostChanges = 100;
// Minutes of work
constexpr double kMostParts = 1e7;
// Values stop changing.
constexpr double kSmallTerm = std::numeric_limits<double>::epsilon() / 8;

// next = factor (G + shift) now, and the sum of all terms so far.
struct Series {
  const RateMatrix* rates;
  UnalignedLanes recombination;
  double shift;
  const UnalignedLanes* now;
  UnalignedLanes* next;
  UnalignedLanes* sum;
};

// Returns whether any term is still large.
ANCIFY_ALWAYS_INLINE bool plain_term(const Series& series, double factor) {
  const SparseMatrix& fixed = series.rates->fixed;
  const SparseMatrix& recombination = series.rates->recombination;
  const std::size_t rows = fixed.rows();
  Lanes large = {};
  for (std::size_t row = 0; row < rows; ++row) {
    Lanes value = series.shift * series.now[row].lanes;
    for (auto k = fixed.starts[row]; k < fixed.starts[row + 1]; ++k) {
      value += fixed.values[k] * series.now[fixed.columns[k]].lanes;
    }
    Lanes recombined = {};
    for (auto k = recombination.starts[row]; k < recombination.starts[row + 1]; ++k) {
      recombined += recombination.values[k] * series.now[recombination.columns[k]].lanes;
    }
    value = factor * (value + series.recombination.lanes * recombined);
    const Lanes sum = series.sum[row].lanes + value;
    series.next[row].lanes = value;
    series.sum[row].lanes = sum;
    const Lanes excess = value - kSmallTerm * sum;
    large = excess > large ? excess : large;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if (large[lane] > 0) return true;
  }
  return false;
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX2 bool term_avx2(const Series& series, double factor) {
  return plain_term(series, factor);
}

ANCIFY_TARGET_AVX512 bool term_avx512(const Series& series, double factor) {
  return plain_term(series, factor);
}

#endif

bool add_term(const Series& series, double factor, SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return term_avx512(series, factor);
  if (level == SimdLevel::kAvx2) return term_avx2(series, factor);
#endif
  static_cast<void>(level);
  return plain_term(series, factor);
}

}  // namespace

void propagate(const RateMatrix& rates, const Lanes& recombination, double time, Values& values,
               SimdLevel level, const TaskContext& context) {
  double most = 0;
  for (int lane = 0; lane < kLanes; ++lane) most = std::max(most, recombination[lane]);
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
      const Series series = {&rates,     {recombination}, fastest,
                             now.data(), next.data(),     values.data()};
      const bool is_large = add_term(series, length / k, level);
      now.swap(next);
      if (!is_large && k >= changes) break;
    }
    const double scale = std::exp(-changes);
    for (auto& value : values) value.lanes *= scale;
  }
}

Values transformed(const SparseMatrix& transition, const Values& values) {
  Values result(transition.rows());
  for (std::size_t row = 0; row < transition.rows(); ++row) {
    for (auto k = transition.starts[row]; k < transition.starts[row + 1]; ++k) {
      result[row].lanes += transition.values[k] * values[transition.columns[k]].lanes;
    }
  }
  return result;
}

}  // namespace ancify::two_locus
