// Calling on a device that is not one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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

// What a GPU's threads do, done on the host.
class FakeKernels : public CallKernels {
 public:
  explicit FakeKernels(std::size_t memory = std::size_t{1} << 30,
                       const std::string& name = "fake:0")
      : fake(memory, name) {}
  Device& device() override { return fake; }
  std::unique_ptr<Device> another_device() override { return std::make_unique<FakeDevice>(fake); }
  void call_by_table(const CallTile& tile, const std::uint16_t* table, std::size_t patterns,
                     int stream) override {
    fake.count_call("call_by_table");
    EXPECT_EQ(patterns, number_of_patterns(tile.species));
    check(tile);
    fake.begin(stream, [=] {
      for (std::size_t lane = 0; lane < tile.lanes(); ++lane) {
        ancify::call_by_table(tile, table, lane);
      }
    });
  }
  void call_by_vote(const CallTile& tile, const Voting& voting, int stream) override {
    fake.count_call("call_by_vote");
    check(tile);
    fake.begin(stream, [=] {
      for (std::size_t i = 0; i < tile.n; ++i) ancify::call_by_vote(tile, voting, i);
    });
  }
  // In blocks of threads, each with its own row of columns.
  void call_by_trees(const TileAround& around, const WalkedTrees& trees, int stream) override {
    fake.count_call("call_by_trees");
    check(around.tile);
    EXPECT_GE(around.first, 0);
    EXPECT_LE(around.first, std::max<std::int64_t>(around.start - kFeatureReach, 0));
    fake.begin(stream, [=, block = block_of_threads] {
      const std::size_t n = around.tile.n;
      for (std::size_t start = 0; start < n; start += block) {
        const std::size_t here = std::min(block, n - start);
        std::vector<std::uint32_t> consensus;
        for (std::int64_t k = -kFeatureReach; k < static_cast<std::int64_t>(here) + kFeatureReach;
             ++k) {
          consensus.push_back(
              consensus_at(around, around.start + static_cast<std::int64_t>(start) + k));
        }
        std::vector<float> values((trees.n_columns + 1) * block);
        for (std::size_t i = 0; i < here; ++i) {
          ancify::call_by_trees(around, trees, start + i, &consensus[kFeatureReach + i], &values[i],
                                block);
        }
      }
    });
  }

  FakeDevice fake;
  std::size_t block_of_threads = 256;
  int tiles = 0;
  std::function<void()> before_tile;
  std::set<std::thread::id> threads;

 private:
  void check(const CallTile& tile) {
    if (before_tile) before_tile();
    ++tiles;
    threads.insert(std::this_thread::get_id());
    EXPECT_EQ(tile.pitch % kLane, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.bases) % kLane, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.calls) % kLane, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.phred) % kLane, 0U);
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
