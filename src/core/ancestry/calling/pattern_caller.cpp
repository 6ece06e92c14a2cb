// Calls by a table of all patterns, or by a cache of the observed patterns.
#include "core/ancestry/calling/pattern_caller.h"

#include "core/ancestry/patterns/site_posteriors.h"

namespace ancify {

namespace {

Sites sites_of(const Stretch& stretch) { return {stretch.species, stretch.form, stretch.size()}; }

}  // namespace

void PatternCaller::call(const Stretch& stretch, SimdLevel simd, char* calls,
                         std::uint8_t* phred) const {
  calls_.apply(sites_of(stretch), calls, phred, simd);
}

void PatternCaller::posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                               std::size_t pitch) const {
  site_posteriors(calls_.method(), sites_of(stretch), simd, out, pitch);
}

std::optional<DeviceMethod> PatternCaller::on_devices(bool with_phred) const {
  const Method& method = calls_.method();
  if (calls_.table() != nullptr) return by_table(*calls_.table(), species(), with_phred);
  if (method.votes() != nullptr) return by_vote(*method.votes(), with_phred);
  return std::nullopt;
}

}  // namespace ancify
