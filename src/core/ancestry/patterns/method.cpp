// Calls and phred-scaled errors from posteriors: q = -10 log10(1 - the largest posterior), rounded
// (Ewing and Green 1998, Genome Res. 8:186).
#include "core/ancestry/patterns/method.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr double kMostPhred = kNoPhred - 1;

std::uint8_t phred_of(double error) {
  return static_cast<std::uint8_t>(
      std::lround(std::clamp(-10 * std::log10(error), 0.0, kMostPhred)));
}

}  // namespace

void Method::call_batch(const std::uint8_t* states, std::size_t n, SimdLevel /*level*/,
                        SiteCall* calls) const {
  std::vector<int> pattern(static_cast<std::size_t>(species()));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t s = 0; s < pattern.size(); ++s) pattern[s] = states[s * kBatchSites + i];
    calls[i] = call(pattern.data());
  }
}

std::array<bool, kBatchSites> patterns_with_data(const std::uint8_t* states, int n_species) {
  // A state is missing if it has this bit. Eight states at a time
  static_assert(kMissing == 4, "only a missing state has bit 2");
  std::array<std::uint64_t, kBatchSites / 8> common;
  common.fill(~std::uint64_t{0});
  for (int s = 0; s < n_species; ++s, states += kBatchSites) {
    for (std::size_t word = 0; word < common.size(); ++word) {
      std::uint64_t eight;
      std::memcpy(&eight, states + 8 * word, sizeof(eight));
      common[word] &= eight;
    }
  }
  std::array<std::uint8_t, kBatchSites> all;
  std::memcpy(all.data(), common.data(), sizeof(all));
  std::array<bool, kBatchSites> any;
  for (std::size_t i = 0; i < kBatchSites; ++i) any[i] = (all[i] & kMissing) == 0;
  return any;
}

void check_thresholds(const Thresholds& thresholds) {
  const double high = thresholds.high;
  const double low = thresholds.low;
  if (low >= 0 && low <= high && high <= 1) return;
  throw InputError("the posterior thresholds are " + number_text(high) + " (high) and " +
                   number_text(low) + " (low); they must be 0 <= low <= high <= 1");
}

SiteCall call_by_posterior(const Posterior& posterior, const Thresholds& thresholds) {
  return {posterior_call(posterior.data(), thresholds), posterior};
}

std::uint8_t error_phred(const SiteCall& site) {
  return site.posterior ? phred_of(posterior_error(site.posterior->data())) : kNoPhred;
}

PhredScale::PhredScale() {
  for (int phred = 1; phred < kNoPhred; ++phred) {
    double& error = largest_error[phred - 1];
    error = std::pow(10, (0.5 - phred) / 10);  // apart from rounding, which the loops correct
    while (phred_of(error) < phred) error = std::nextafter(error, 0);
    while (phred_of(std::nextafter(error, 1)) >= phred) error = std::nextafter(error, 1);
  }
  largest_error[kNoPhred - 1] = -1;
}

}  // namespace ancify
