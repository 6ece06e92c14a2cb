// The one interface by which calling sees every method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/device/simd.h"
#include "core/genome/stretch.h"

namespace ancify {

struct DeviceMethod;

// Calls stretches of a chromosome on the CPU, safe from several threads.
class StretchCaller {
 public:
  StretchCaller() = default;
  virtual ~StretchCaller() = default;
  StretchCaller(const StretchCaller&) = delete;
  StretchCaller& operator=(const StretchCaller&) = delete;

  virtual int species() const = 0;
  // Positions to each side of a position that its call depends on.
  virtual std::int64_t reach() const { return 0; }
  // Calls the positions of a stretch that holds reach() more on each side, not more if that is 0.
  // `phred` takes error_phred(), and may be null.
  virtual void call(const Stretch& stretch, SimdLevel simd, char* calls,
                    std::uint8_t* phred) const = 0;
  // The posterior of A at its i-th position becomes out[i], of C out[pitch + i], and so on; NaN
  // where there is none.
  virtual void posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                          std::size_t pitch) const = 0;
  // The same method on devices, none where they cannot. This has to stay.
  virtual std::optional<DeviceMethod> on_devices(bool with_phred) const = 0;
};

}  // namespace ancify
