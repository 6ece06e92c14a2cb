// Calls by a table of all patterns, or by a cache of the patterns that occur.
#include "core/ancestry/calling/pattern_caller.h"

#include <utility>

#include "core/ancestry/patterns/site_posteriors.h"

namespace ancify {

namespace {

Sites sites_of(const Stretch& stretch) { return {stretch.species, stretch.form, stretch.size()}; }

}  // namespace

PatternCaller::PatternCaller(std::unique_ptr<const Method> method, bool with_phred)
    : method_(std::move(method)) {
  if (method_->species() <= kMostTabulated) {
    table_.emplace(*method_, with_phred);
  } else {
    memo_ = std::make_unique<PatternMemo>(*method_);
  }
}

void PatternCaller::call(const Stretch& stretch, SimdLevel simd, char* calls,
                         std::uint8_t* phred) const {
  if (table_) {
    table_->apply(sites_of(stretch), calls, phred, simd);
  } else {
    memo_->apply(sites_of(stretch), calls, phred, simd);
  }
}

void PatternCaller::posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                               std::size_t pitch) const {
  site_posteriors(*method_, sites_of(stretch), simd, out, pitch);
}

std::optional<DeviceMethod> PatternCaller::on_devices(bool with_phred) const {
  if (table_) return by_table(*table_, species(), with_phred);
  if (method_->votes() != nullptr) return by_vote(*method_->votes(), with_phred);
  return std::nullopt;
}

}  // namespace ancify
