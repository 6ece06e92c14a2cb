// Calling on a device that is not one.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "core/ancestry/device_calling.h"
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

  FakeDevice fake;
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

}  // namespace ancify::test
