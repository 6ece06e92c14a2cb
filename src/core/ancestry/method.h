// What every context-free way to call is: a function of a site pattern.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/io/bases.h"

namespace ancify {

// Probabilities of A, C, G, T.
using Posterior = std::array<double, kBases>;

// A call as it is written: upper case, lower case, n (unresolved) or N (no data).
struct SiteCall {
  char call = 'N';
  std::optional<Posterior> posterior;  // where the method has one and there are data
};

class Method {
 public:
  virtual ~Method() = default;
  virtual int species() const = 0;
  // states[i], of species i, is a base code (0 to 3) or kMissing. Safe from several threads.
  virtual SiteCall call(const int* states) const = 0;
};

// The least posterior of a call in upper and in lower case.
struct Thresholds {
  double high = 0.8;
  double low = 0.5;
};

// InputError unless 0 <= low <= high <= 1.
void check_thresholds(const Thresholds& thresholds);

// The posterior's maximum as a call, ties to the first of A, C, G, T. What differs by rounding
// alone is a tie, and reaches a threshold, so that a call does not depend on the order of a sum.
SiteCall call_by_posterior(const Posterior& posterior, const Thresholds& thresholds);

// What error_phred() gives where there is no posterior.
constexpr std::uint8_t kNoPhred = 255;

// How sure a call is: -10 log10 of the probability that the maximum is wrong, rounded, at most 254.
std::uint8_t error_phred(const SiteCall& site);

}  // namespace ancify
