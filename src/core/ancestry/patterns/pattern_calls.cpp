// Calls by a table of all patterns, or by a cache of the patterns that occur.
#include "core/ancestry/patterns/pattern_calls.h"

#include <utility>

namespace ancify {

PatternCalls::PatternCalls(std::unique_ptr<const Method> method, bool with_phred)
    : method_(std::move(method)) {
  if (method_->species() <= kMostTabulated) {
    table_.emplace(*method_, with_phred);
  } else {
    memo_ = std::make_unique<PatternMemo>(*method_);
  }
}

void PatternCalls::apply(const Sites& sites, char* calls, std::uint8_t* phred,
                         SimdLevel level) const {
  if (table_) {
    table_->apply(sites, calls, phred, level);
  } else {
    memo_->apply(sites, calls, phred, level);
  }
}

}  // namespace ancify
