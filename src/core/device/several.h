// Adjacent values that a device reads or writes in one access.
#pragma once

#include "core/device/host_device.h"

namespace ancify {

// Devices read at most 16 bytes per access.
template <class T, int kNumbers>
struct alignas(sizeof(T) * kNumbers < 16 ? sizeof(T) * kNumbers : 16) Several {
  T at[kNumbers];
};

// `from` must be aligned to the size of the kNumbers values, or to 16 bytes if this is less.
template <int kNumbers, class T>
ANCIFY_HOST_DEVICE const Several<T, kNumbers>& several_at(const T* from) {
  return *reinterpret_cast<const Several<T, kNumbers>*>(from);
}
template <int kNumbers, class T>
ANCIFY_HOST_DEVICE Several<T, kNumbers>& several_at(T* from) {
  return *reinterpret_cast<Several<T, kNumbers>*>(from);
}

}  // namespace ancify
