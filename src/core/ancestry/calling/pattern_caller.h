// Calls by methods of a single position: each site pattern is evaluated once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/stretch_caller.h"
#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/pattern_calls.h"

namespace ancify {

// With many species, devices support only votes.
class PatternCaller : public StretchCaller {
 public:
  // With `with_phred`, call() also returns error_phred().
  PatternCaller(std::unique_ptr<const Method> method, bool with_phred)
      : calls_(std::move(method), with_phred) {}
  int species() const override { return calls_.method().species(); }
  void call(const Stretch& stretch, SimdLevel simd, char* calls,
            std::uint8_t* phred) const override;
  void posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                  std::size_t pitch) const override;
  std::optional<DeviceMethod> on_devices(bool with_phred) const override;

 private:
  PatternCalls calls_;
};

}  // namespace ancify
