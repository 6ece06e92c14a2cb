// Networks on a fake device, which multiplies by plain loops in place of the GPU's library.
#pragma once

#include <cstdint>
#include <variant>

#include "core/nn/device_network.h"
#include "fake_device.h"

namespace ancify::test {

class FakeNetworkKernels : public FakeKernelsOf<NetworkOperation> {
 public:
  using FakeKernelsOf::FakeKernelsOf;

 private:
  void do_on_host(const NetworkOperation& operation) override {
    std::visit([](const auto& op) { do_one(op); }, operation);
  }
  template <class Op>
  static void do_one(const Op& op) {
    for (std::int64_t row = op.rows; row-- > 0;) do_rows(op, row, row + 1);
  }
  static void do_one(const MatrixProductOp& op) { multiply_plainly(op.product); }
};

}  // namespace ancify::test
