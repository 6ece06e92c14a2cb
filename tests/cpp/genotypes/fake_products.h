// Products with genotypes on fake devices.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/genotypes/device_products.h"
#include "fake_device.h"

namespace ancify {

class FakeProductKernels : public test::FakeKernelsOf<ProductOperation> {
 public:
  using FakeKernelsOf::FakeKernelsOf;

  std::size_t first_halves = 0;   // begun, over calls
  std::size_t second_halves = 0;  // begun
  std::function<void()> after_an_operation;

 private:
  void look_at(const ProductOperation& operation) override {
    if (const auto* const sums = std::get_if<VariantSumsOp>(&operation)) {
      EXPECT_GT(sums->n(), 0U);
      if (!sums->of_missing) ++first_halves;
    } else {
      EXPECT_GT(std::get<SampleSumsOp>(operation).n(), 0U);
      ++second_halves;
    }
  }
  void do_on_host(const ProductOperation& operation) override {
    std::visit([](const auto& op) { do_parts(op); }, operation);
    if (after_an_operation) after_an_operation();
  }
};

// Some fake devices, with `memory` bytes each.
class FakeProductDevices {
 public:
  explicit FakeProductDevices(std::size_t number, std::size_t memory = std::size_t{1} << 30)
      : devices_(std::make_shared<ProductDevices>()) {
    for (std::size_t i = 0; i < number; ++i) {
      devices_->kernels.push_back(
          std::make_unique<FakeProductKernels>(memory, "fake:" + std::to_string(i)));
    }
  }
  const std::shared_ptr<ProductDevices>& all() const { return devices_; }
  FakeProductKernels& kernels(std::size_t i = 0) const {
    return static_cast<FakeProductKernels&>(*devices_->kernels[i]);
  }
  test::FakeDevice& fake(std::size_t i = 0) const { return kernels(i).fake; }

 private:
  std::shared_ptr<ProductDevices> devices_;
};

}  // namespace ancify
