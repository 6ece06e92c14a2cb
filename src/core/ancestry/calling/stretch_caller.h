// The interface through which calling uses every method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/device/simd.h"
#include "core/genome/stretch.h"

namespace ancify {

struct DeviceMethod;

// Calls stretches of a chromosome on the CPU; thread-safe.
class StretchCaller {
 public:
  StretchCaller() = default;
  virtual ~StretchCaller() = default;
  StretchCaller(const StretchCaller&) = delete;
  StretchCaller& operator=(const StretchCaller&) = delete;

  virtual int species() const = 0;
  // The number of positions on each side of a position that affect its call.
  virtual std::int64_t reach() const { return 0; }
  // Calls the positions of a stretch, which must hold reach() further positions on each side.
  // `phred` receives error_phred(), and may be null.
  virtual void call(const Stretch& stretch, SimdLevel simd, char* calls,
                    std::uint8_t* phred) const = 0;
  // Writes the posterior of base b at the i-th position to out[b * pitch + i], b from 0 (A) to 3
  // (T); NaN without a posterior.
  virtual void posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                          std::size_t pitch) const = 0;
  // The method for devices; empty if they do not support it. This object must outlive it.
  virtual std::optional<DeviceMethod> on_devices(bool with_phred) const = 0;
};

}  // namespace ancify
