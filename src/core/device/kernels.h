// What a device computes, begun in a stream. A family of operations is a std::variant, where each
// is listed once: what begins one, or compares it with the CPU's, then knows all of them.
//
// An operation has a kName, and n() parts that may be done in any order, each by operator()(i)
// where they share nothing.
#pragma once

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
  // The same device for another thread, with streams of its own.
  virtual std::unique_ptr<Device> another_device() = 0;
  virtual void begin(const Operation& operation, int stream) = 0;
};

}  // namespace ancify
