// Calls by a table of all patterns, or in batches.
#include "core/ancestry/patterns/pattern_calls.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace ancify {

namespace {

void call_in_batches(const Method& method, const Sites& sites, char* calls, std::uint8_t* phred,
                     SimdLevel level) {
  std::vector<std::uint8_t> states(static_cast<std::size_t>(method.species()) * kBatchSites);
  std::array<SiteCall, kBatchSites> batch;
  for (std::size_t start = 0; start < sites.n; start += kBatchSites) {
    const std::size_t n = std::min(kBatchSites, sites.n - start);
    make_batch(method.species(), sites, start, n, level, states.data());
    method.call_batch(states.data(), n, level, batch.data());
    for (std::size_t i = 0; i < n; ++i) {
      calls[start + i] = batch[i].call;
      if (phred != nullptr) phred[start + i] = error_phred(batch[i]);
    }
  }
}

}  // namespace

PatternCalls::PatternCalls(std::unique_ptr<const Method> method, bool with_phred)
    : method_(std::move(method)) {
  if (method_->species() <= kMostTabulated) table_.emplace(*method_, with_phred);
}

void PatternCalls::apply(const Sites& sites, char* calls, std::uint8_t* phred,
                         SimdLevel level) const {
  if (table_) {
    table_->apply(sites, calls, phred, level);
  } else {
    call_in_batches(*method_, sites, calls, phred, level);
  }
}

}  // namespace ancify
