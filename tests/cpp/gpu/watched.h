// Records which operations of a family a device has begun, so that no comparison is forgotten.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/device/kernels.h"

namespace ancify::test {

template <class Operation>
class Begun {
 public:
  void add(const Operation& operation) { begun_[operation.index()] = true; }
  // The names of operations that were never begun.
  std::vector<std::string> missing() const {
    return missing(std::make_index_sequence<std::variant_size_v<Operation>>());
  }

 private:
  template <std::size_t... kIndex>
  std::vector<std::string> missing(std::index_sequence<kIndex...> /*all*/) const {
    std::vector<std::string> names;
    const auto look = [&](bool begun, const char* name) {
      if (!begun) names.emplace_back(name);
    };
    (look(begun_[kIndex], std::variant_alternative_t<kIndex, Operation>::kName), ...);
    return names;
  }
  std::array<bool, std::variant_size_v<Operation>> begun_ = {};
};

// Kernels that record each operation that they begin.
template <class Operation>
class Watched : public Kernels<Operation> {
 public:
  Watched(std::unique_ptr<Kernels<Operation>> kernels, Begun<Operation>& begun)
      : kernels_(std::move(kernels)), begun_(begun) {}
  Device& device() override { return kernels_->device(); }
  std::size_t workspace_for(const Operation& operation) override {
    return kernels_->workspace_for(operation);
  }
  void begin(const Operation& operation, int stream) override {
    begun_.add(operation);
    kernels_->begin(operation, stream);
  }

 private:
  std::unique_ptr<Kernels<Operation>> kernels_;
  Begun<Operation>& begun_;
};

// The record of a family, over all devices that the driver opens.
template <class Operation>
Begun<Operation>& begun() {
  static Begun<Operation> all;
  return all;
}

template <class Operation>
std::vector<std::unique_ptr<Kernels<Operation>>> watched(
    std::vector<std::unique_ptr<Kernels<Operation>>> devices) {
  for (auto& device : devices) {
    device = std::make_unique<Watched<Operation>>(std::move(device), begun<Operation>());
  }
  return devices;
}

}  // namespace ancify::test
