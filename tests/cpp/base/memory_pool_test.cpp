// Checks typed arrays of device memory, their pool, and operations on them.
#include "core/device/memory_pool.h"

#include <vector>

#include "fake_device.h"

namespace ancify {
namespace {

using test::FakeDevice;

TEST(MemoryPool, GivesAgainWhatCameBack) {
  FakeDevice device;
  MemoryPool pool(device);
  const double* first = DeviceArray<double>(pool, 90).data();
  // An idle piece is reused for the same kind if at most an eighth is wasted.
  EXPECT_EQ(DeviceArray<double>(pool, 80).data(), first);
  EXPECT_EQ(device.allocations, 1);
  const DeviceArray<double> smaller(pool, 79);
  const DeviceArray<double> on_host(pool, 90, MemoryKind::kHost);
  EXPECT_EQ(device.allocations, 3);
}

TEST(MemoryPool, KeepsNoMoreThanWasNeededAtOnce) {
  FakeDevice device(1000);
  MemoryPool pool(device);
  { const DeviceArray<char> first(pool, 600), second(pool, 300); }
  EXPECT_EQ(device.free_memory(), 100U);
  EXPECT_EQ(pool.free_memory(), 1000U);
  { const DeviceArray<char> other(pool, 200); }  // replaces the idle piece
  EXPECT_EQ(device.most_on_device, 900U);
  const DeviceArray<char> all(pool, 1000);
  EXPECT_FALSE(all.refused());
  EXPECT_EQ(pool.free_memory(), 0U);
  EXPECT_TRUE(DeviceArray<char>(pool, 1).refused());
}

TEST(MemoryPool, ReleasesWhatLiesIdleWhereMemoryIsRefused) {
  FakeDevice device;
  MemoryPool pool(device);
  { const DeviceArray<char> first(pool, 600), second(pool, 600); }
  const int before = device.allocations;
  device.failing_allocation = before + 1;
  const DeviceArray<char> third(pool, 100);
  EXPECT_FALSE(third.refused());
  EXPECT_EQ(device.taken(), 1U);
  device.failing_allocation = device.allocations + 1;  // there is nothing to release
  EXPECT_TRUE(DeviceArray<char>(pool, 100).refused());
}

TEST(DeviceArray, OfNothingIsNotRefusedAndMoves) {
  FakeDevice device;
  MemoryPool pool(device);
  EXPECT_FALSE(DeviceArray<int>(pool, 0).refused());
  DeviceArray<int> to;
  DeviceArray<int> from(pool, 5);
  const int* const data = from.data();
  to = std::move(from);
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.size(), 5U);
}

TEST(Device, CopiesAndFillsNumbersInOrder) {
  FakeDevice device;
  MemoryPool pool(device);
  const DeviceArray<float> first(pool, 4), second(pool, 4);
  const std::vector<float> from = {1, 2, 3, 4};
  std::vector<float> to(4);
  device.upload(first.data(), from.data(), 4, 0);
  device.fill(second.data(), 0, 4, 0);
  device.copy(second.data() + 1, first.data(), 2, 0);
  device.download(to.data(), second.data(), 4, 0);
  device.wait(0);
  EXPECT_EQ(to, (std::vector<float>{0, 1, 2, 0}));
}

TEST(Device, AStreamWaitsForAnEventOfTheOther) {
  FakeDevice device;
  MemoryPool pool(device);
  const DeviceArray<int> memory(pool, 1);
  const int one = 1;
  const int two = 2;
  int to = 0;
  device.upload(memory.data(), &one, 1, 0);
  device.wait_for(*device.record(0), 1);
  device.upload(memory.data(), &two, 1, 0);  // after the event
  device.download(&to, memory.data(), 1, 1);
  device.wait(1);
  EXPECT_EQ(to, 1);
  device.wait(0);
  EXPECT_EQ(*memory.data(), 2);
}

}  // namespace
}  // namespace ancify
