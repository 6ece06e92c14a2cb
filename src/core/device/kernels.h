// Starts a family's operations on a device. A family lists its operations once, in a std::variant.
// Code that starts an operation, or compares it with the CPU's result, therefore knows all of them.
//
// An operation has a kName and n() parts, which may run in any order. If its parts share nothing,
// operator()(i) does part i. An operation that a library performs has neither parts nor n().
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
  // Bytes of device memory that an operation needs as workspace. Only libraries need any.
  virtual std::size_t workspace_for(const Operation& /*operation*/) { return 0; }
  // Starts an operation in a stream.
  virtual void begin(const Operation& operation, int stream) = 0;
};

}  // namespace ancify
