// Starts a family's operations on a device. A family lists its operations once, in a std::variant.
// Code that starts an operation, or compares it with the CPU's result, so knows all of them.
//
// An operation has a kName and n() parts, which may be done in any order. If its parts share
// nothing, operator()(i) does part i. One that a library does has neither parts nor n().
#pragma once

#include <cstddef>
#include <memory>
#include <variant>

#include "core/device/device.h"

namespace ancify {

template <class Operation>
class Kernels {
 public:
  Kernels() = default;
  virtual ~Kernels() = default;
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  virtual Device& device() = 0;
  // Bytes of the device's memory that an operation needs beside its arrays. Only libraries need
  // any.
  virtual std::size_t room_for(const Operation& /*operation*/) { return 0; }
  // Starts an operation in a stream.
  virtual void begin(const Operation& operation, int stream) = 0;
};

}  // namespace ancify
