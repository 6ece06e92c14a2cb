// Calls by methods of a single position: each site pattern is evaluated once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/stretch_caller.h"
#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/pattern_memo.h"
#include "core/ancestry/patterns/site_patterns.h"

namespace ancify {

// Uses a table of all patterns for few species, and a cache of the patterns that occur for many.
// With many species, devices can only count votes.
class PatternCaller : public StretchCaller {
 public:
  // `with_phred`: call() also gives error_phred().
  PatternCaller(std::unique_ptr<const Method> method, bool with_phred);
  int species() const override { return method_->species(); }
  void call(const Stretch& stretch, SimdLevel simd, char* calls,
            std::uint8_t* phred) const override;
  void posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                  std::size_t pitch) const override;
  std::optional<DeviceMethod> on_devices(bool with_phred) const override;

 private:
  std::unique_ptr<const Method> method_;
  std::optional<CallTable> table_;
  std::unique_ptr<const PatternMemo> memo_;  // if there is no table
};

}  // namespace ancify
