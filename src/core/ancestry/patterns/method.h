// What every context-free way to call is: a function of a site pattern.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/genome/bases.h"

namespace ancify {

// Probabilities of A, C, G, T.
using Posterior = std::array<double, kBases>;

// A call as it is written: upper case, lower case, n (unresolved) or N (no data).
struct SiteCall {
  char call = 'N';
  std::optional<Posterior> posterior;  // where the method has one and there are data
};

struct Voting;

class Method {
 public:
  virtual ~Method() = default;
  virtual int species() const = 0;
  // states[i], of species i, is a base code (0 to 3) or kMissing. Safe from several threads.
  virtual SiteCall call(const int* states) const = 0;
  // The vote that all calls are, null for other methods. A device counts votes of any number.
  virtual const Voting* votes() const { return nullptr; }
};

// The least posterior of a call in upper and in lower case.
struct Thresholds {
  double high = 0.8;
  double low = 0.5;
};

// InputError unless 0 <= low <= high <= 1.
void check_thresholds(const Thresholds& thresholds);

// The largest of four.
ANCIFY_HOST_DEVICE inline double largest_of(const double* values) {
  double largest = values[0];
  for (int base = 1; base < kBases; ++base) {
    if (values[base] > largest) largest = values[base];
  }
  return largest;
}

// The posterior's maximum as a call, ties to the first of A, C, G, T. What differs by rounding
// alone is a tie, and reaches a threshold, so that a call does not depend on the order of a sum.
ANCIFY_HOST_DEVICE inline char posterior_call(const double* posterior,
                                              const Thresholds& thresholds) {
  constexpr double rounding = 1e-12;
  const double most = largest_of(posterior) + rounding;
  int base = kBases - 1;
  for (int other = base - 1; other >= 0; --other) {
    if (posterior[other] + 2 * rounding >= most) base = other;
  }
  return most >= thresholds.high  ? upper_base(base)
         : most >= thresholds.low ? lower_base(base)
                                  : 'n';
}
SiteCall call_by_posterior(const Posterior& posterior, const Thresholds& thresholds);

// The probability that the posterior's maximum is wrong.
ANCIFY_HOST_DEVICE inline double posterior_error(const double* posterior) {
  int best = 0;
  double largest = posterior[0];
  for (int base = 1; base < kBases; ++base) {
    if (posterior[base] > largest) {
      best = base;
      largest = posterior[base];
    }
  }
  double error = 0;  // not 1 - largest, which would be all rounding
  for (int base = 0; base < kBases; ++base) {
    if (base != best) error += posterior[base];
  }
  return error;
}

// What error_phred() gives where there is no posterior.
constexpr std::uint8_t kNoPhred = 255;

// How sure a call is: -10 log10 of posterior_error(), rounded, at most 254.
std::uint8_t error_phred(const SiteCall& site);

// The same without a logarithm, which devices have of their own.
struct PhredScale {
  PhredScale();
  // Of those from 1 on the largest error that is given so; in the last place one that there is not.
  double largest_error[kNoPhred];
};

ANCIFY_HOST_DEVICE inline std::uint8_t error_phred(double error, const double* largest_error) {
  int phred = 0;
  for (int step = 128; step > 0; step /= 2) {
    if (error <= largest_error[phred + step - 1]) phred += step;
  }
  return static_cast<std::uint8_t>(phred);
}

// A position as it is written: a call, and error_phred(); without data as this is.
struct CallBytes {
  char call = 'N';
  std::uint8_t phred = kNoPhred;
};

ANCIFY_HOST_DEVICE inline CallBytes call_bytes(const double* posterior,
                                               const Thresholds& thresholds,
                                               const double* largest_error) {
  return {posterior_call(posterior, thresholds),
          error_phred(posterior_error(posterior), largest_error)};
}

}  // namespace ancify
