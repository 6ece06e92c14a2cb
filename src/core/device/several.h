// Numbers that lie side by side, which a device reads or writes at once.
#pragma once

#include "core/device/host_device.h"

namespace ancify {

// Devices read at most 16 bytes at once.
template <class T, int kNumbers>
struct alignas(sizeof(T) * kNumbers < 16 ? sizeof(T) * kNumbers : 16) Several {
  T at[kNumbers];
};

// Their place must be a multiple of their size, or of 16 bytes.
template <int kNumbers, class T>
ANCIFY_HOST_DEVICE const Several<T, kNumbers>& several_at(const T* from) {
  return *reinterpret_cast<const Several<T, kNumbers>*>(from);
}
template <int kNumbers, class T>
ANCIFY_HOST_DEVICE Several<T, kNumbers>& several_at(T* from) {
  return *reinterpret_cast<Several<T, kNumbers>*>(from);
}

}  // namespace ancify
