// Calls with a separate method for each class of neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/stretch_caller.h"
#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/neighbours.h"
#include "core/ancestry/patterns/pattern_calls.h"

namespace ancify {

// Looks up sites by their pattern and class. Devices do not support this.
class ClassCaller : public StretchCaller {
 public:
  // `methods` has one for each of kNeighbourClasses, all for the same species. With `with_phred`,
  // call() also returns error_phred().
  ClassCaller(std::vector<std::unique_ptr<const Method>> methods, bool with_phred);
  int species() const override { return calls_.method().species() - 1; }
  std::int64_t reach() const override { return kNeighbourReach; }
  void call(const Stretch& stretch, SimdLevel simd, char* calls,
            std::uint8_t* phred) const override;
  void posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                  std::size_t pitch) const override;
  std::optional<DeviceMethod> on_devices(bool /*with_phred*/) const override { return {}; }

 private:
  PatternCalls calls_;
  NeighbourClasses classes_;
};

}  // namespace ancify
