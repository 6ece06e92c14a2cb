// A method's calls at sites.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/site_patterns.h"

namespace ancify {

// Uses a table of all patterns for few species, and calls many species in batches. Thread-safe.
class PatternCalls {
 public:
  // `with_phred`: apply() also gives error_phred().
  PatternCalls(std::unique_ptr<const Method> method, bool with_phred);
  const Method& method() const { return *method_; }
  // Null for many species.
  const CallTable* table() const { return table_ ? &*table_ : nullptr; }
  // Writes a call and, unless `phred` is null, an error for each site.
  void apply(const Sites& sites, char* calls, std::uint8_t* phred, SimdLevel level) const;

 private:
  std::unique_ptr<const Method> method_;
  std::optional<CallTable> table_;
};

}  // namespace ancify
