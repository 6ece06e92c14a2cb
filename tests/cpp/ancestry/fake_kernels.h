// The fake device for calling: it runs the kernels on the host.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/ancestry/calling/device_calling.h"
#include "fake_device.h"

namespace ancify::test {

class FakeKernels : public FakeKernelsOf<CallOperation> {
 public:
  using FakeKernelsOf::FakeKernelsOf;

  std::size_t block_of_threads = 256;
  int tiles = 0;
  std::function<void()> before_tile;
  std::set<std::thread::id> threads;
  std::atomic<bool> busy{false};

 private:
  void look_at(const CallOperation& operation) override {
    std::visit([this](const auto& one) { check(one); }, operation);
  }
  void do_on_host(const CallOperation& operation) override {
    std::visit([this](const auto& op) { do_one(op); }, operation);
  }
  template <class Op>
  void do_one(const Op& op) const {
    do_parts(op);
  }
  // In blocks of threads; each thread has its own columns.
  void do_one(const CallByTrees& op) const {
    const TileAround& around = op.around;
    const std::size_t block = block_of_threads;
    for (std::size_t start = 0; start < op.n(); start += block) {
      const std::size_t here = std::min(block, op.n() - start);
      std::vector<std::uint32_t> consensus;
      for (std::int64_t k = -kFeatureReach; k < static_cast<std::int64_t>(here) + kFeatureReach;
           ++k) {
        consensus.push_back(
            consensus_at(around, around.start + static_cast<std::int64_t>(start) + k));
      }
      std::vector<float> values((op.trees.n_columns + 1) * block);
      for (std::size_t i = 0; i < here; ++i) {
        call_by_trees(around, op.trees, start + i, &consensus[kFeatureReach + i], &values[i],
                      block);
      }
    }
  }

  void check(const CallByTable& op) {
    EXPECT_EQ(op.patterns, number_of_patterns(op.tile.species));
    check(op.tile);
  }
  void check(const CallByVote& op) { check(op.tile); }
  void check(const CallByTrees& op) {
    check(op.around.tile);
    EXPECT_GE(op.around.first, 0);
    EXPECT_LE(op.around.first, std::max<std::int64_t>(op.around.start - kFeatureReach, 0));
  }
  void check(const CallTile& tile) {
    EXPECT_FALSE(busy.exchange(true));  // one thread at a time
    if (before_tile) before_tile();
    ++tiles;
    threads.insert(std::this_thread::get_id());
    EXPECT_EQ(tile.pitch % kLane, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.bases) % kLane, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.calls) % kLane, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.phred) % kLane, 0U);
    busy = false;
  }
};

inline Backend on_gpus(std::vector<int> devices = {0}, std::size_t memory = 0) {
  Backend backend;
  backend.kind = BackendKind::kGpu;
  backend.devices = std::move(devices);
  backend.gpu_memory = memory;
  return backend;
}

inline CallDevices one_device(std::unique_ptr<CallKernels> kernels) {
  CallDevices devices;
  devices.push_back(std::move(kernels));
  return devices;
}

}  // namespace ancify::test
