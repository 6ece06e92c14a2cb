// The interface of context-free calling methods: a function from a site pattern to a call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/device/simd.h"
#include "core/genome/bases.h"

namespace ancify {

// Probabilities of A, C, G, T.
using Posterior = std::array<double, kBases>;

// A call: upper case (high confidence), lower case (low), n (unresolved) or N (no data).
struct SiteCall {
  char call = 'N';
  std::optional<Posterior> posterior;  // none without data, or if the method has none
};

struct Voting;

// Patterns of a batch. The state of species s in pattern i is states[s * kBatchSites + i]; all
// elements are valid states.
constexpr std::size_t kBatchSites = 128;

// True if any species has a base, for each pattern of a batch.
std::array<bool, kBatchSites> patterns_with_data(const std::uint8_t* states, int n_species);

// The call if a rule leaves several bases: n, or the first of A, C, G, T, which depends on the
// strand.
enum class Ties : std::uint8_t { kOpen, kAlphabet };

class Method {
 public:
  virtual ~Method() = default;
  virtual int species() const = 0;
  // The call for a site pattern. states[i] is the state of species i: a base code (0 to 3) or
  // kMissing. Thread-safe.
  virtual SiteCall call(const int* states) const = 0;
  // The calls for the first n patterns of a batch. Thread-safe.
  virtual void call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                          SiteCall* calls) const;
  // The settings of the vote if the method is a plain vote, else null. Devices count votes of any
  // number of species.
  virtual const Voting* votes() const { return nullptr; }
};

// The smallest posteriors of an upper-case and of a lower-case call, and the call of bases with
// equal posteriors.
struct Thresholds {
  double high = 0.8;
  double low = 0.5;
  Ties ties = Ties::kOpen;
};

// InputError unless 0 <= low <= high <= 1.
void check_thresholds(const Thresholds& thresholds);

// The largest of values[0] to values[3].
ANCIFY_HOST_DEVICE inline double largest_of(const double* values) {
  double largest = values[0];
  for (int base = 1; base < kBases; ++base) {
    if (values[base] > largest) largest = values[base];
  }
  return largest;
}

// The base with the largest posterior as a call. Posteriors
// within 1e-12 count as equal, to each other and to a threshold. So a call does not depend on
// rounding or on the order of a sum.
ANCIFY_HOST_DEVICE inline char posterior_call(const double* posterior,
                                              const Thresholds& thresholds) {
  constexpr double rounding = 1e-12;
  const double most = largest_of(posterior) + rounding;
  int base = kBases;
  int tied = 0;
  for (int other = kBases - 1; other >= 0; --other) {
    if (posterior[other] + 2 * rounding < most) continue;
    base = other;
    ++tied;
  }
  if (tied > 1 && thresholds.ties == Ties::kOpen) return 'n';
  return most >= thresholds.high  ? upper_base(base)
         : most >= thresholds.low ? lower_base(base)
                                  : 'n';
}
// As above, with the posterior kept in the result.
SiteCall call_by_posterior(const Posterior& posterior, const Thresholds& thresholds);

// The probability that the base with the largest posterior is wrong.
ANCIFY_HOST_DEVICE inline double posterior_error(const double* posterior) {
  int best = 0;
  double largest = posterior[0];
  for (int base = 1; base < kBases; ++base) {
    if (posterior[base] > largest) {
      best = base;
      largest = posterior[base];
    }
  }
  double error = 0;  // 1 - largest would be mostly rounding error
  for (int base = 0; base < kBases; ++base) {
    if (base != best) error += posterior[base];
  }
  return error;
}

// The value of error_phred() for a call without a posterior.
constexpr std::uint8_t kNoPhred = 255;

// The phred-scaled error of a call: -10 log10 of posterior_error(), rounded, at most 254; kNoPhred
// without a posterior.
std::uint8_t error_phred(const SiteCall& site);

// A table that replaces the logarithm in error_phred(), because devices compute logarithms
// differently.
struct PhredScale {
  PhredScale();
  // largest_error[q - 1] is the largest error that rounds to phred q. The last entry is -1, which
  // no error reaches.
  double largest_error[kNoPhred];
};

// The largest phred whose largest_error is not below `error`, by binary search; 0 if there is none.
ANCIFY_HOST_DEVICE inline std::uint8_t error_phred(double error, const double* largest_error) {
  int phred = 0;
  for (int step = 128; step > 0; step /= 2) {
    if (error <= largest_error[phred + step - 1]) phred += step;
  }
  return static_cast<std::uint8_t>(phred);
}

// The bytes written for a position: the call and error_phred(). The defaults stand for no data.
struct CallBytes {
  char call = 'N';
  std::uint8_t phred = kNoPhred;
};

// The bytes for a posterior of A, C, G, T; `largest_error` belongs to a PhredScale.
ANCIFY_HOST_DEVICE inline CallBytes call_bytes(const double* posterior,
                                               const Thresholds& thresholds,
                                               const double* largest_error) {
  return {posterior_call(posterior, thresholds),
          error_phred(posterior_error(posterior), largest_error)};
}

}  // namespace ancify
