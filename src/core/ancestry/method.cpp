#include "core/ancestry/method.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr double kRounding = 1e-12;

}  // namespace

void check_thresholds(const Thresholds& thresholds) {
  const auto& [high, low] = thresholds;
  if (low >= 0 && low <= high && high <= 1) return;
  throw InputError("the thresholds of the posterior are " + number_text(high) + " (high) and " +
                   number_text(low) + " (low); they must be 0 <= low <= high <= 1");
}

SiteCall call_by_posterior(const Posterior& posterior, const Thresholds& thresholds) {
  const double most = *std::max_element(posterior.begin(), posterior.end()) + kRounding;
  int base = 0;
  while (posterior[static_cast<std::size_t>(base)] + 2 * kRounding < most) ++base;
  const char call = most >= thresholds.high  ? upper_base(base)
                    : most >= thresholds.low ? lower_base(base)
                                             : 'n';
  return {call, posterior};
}

std::uint8_t error_phred(const SiteCall& site) {
  constexpr double most = kNoPhred - 1;
  if (!site.posterior) return kNoPhred;
  const auto best = std::max_element(site.posterior->begin(), site.posterior->end());
  double error = 0;  // not 1 - *best, which would be all rounding
  for (auto p = site.posterior->begin(); p != site.posterior->end(); ++p) {
    if (p != best) error += *p;
  }
  return static_cast<std::uint8_t>(std::lround(std::clamp(-10 * std::log10(error), 0.0, most)));
}

}  // namespace ancify
