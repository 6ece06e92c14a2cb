// Checks the tiles of a job on the fake device.
#include "core/device/tiles.h"

#include <string>

#include "fake_device.h"
#include "support.h"

namespace ancify {
namespace {

using test::FakeDevice;
using test::message_of;

constexpr std::size_t kPlenty = std::size_t{1} << 30;

// A group is one byte. The device turns it into two bytes: the byte and the next one.
constexpr TileBytes kBytes = {1, 2};

class Doubling {
 public:
  explicit Doubling(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      input_ += static_cast<char>(i * 7);
      expected_ += {input_.back(), static_cast<char>(input_.back() + 1)};
    }
  }

  void run(FakeDevice& device, Tiles& tiles, const TaskContext& context = TaskContext()) {
    output.clear();
    sizes.clear();
    tiles.run(input_.size(), kBytes, context,
              {[this](const Tile& tile) {
                 EXPECT_EQ(input_.copy(tile.host_in, tile.groups, tile.first), tile.groups);
               },
               [&device](const Tile& tile) {
                 device.count_call("compute");
                 device.begin(tile.stream, [tile] {
                   for (std::size_t i = 0; i < tile.groups; ++i) {
                     tile.device_out[2 * i] = tile.device_in[i];
                     tile.device_out[2 * i + 1] = static_cast<char>(tile.device_in[i] + 1);
                   }
                 });
               },
               [this](const Tile& tile) {
                 EXPECT_EQ(output.size(), 2 * tile.first);
                 output.append(tile.host_out, 2 * tile.groups);
                 sizes.push_back(tile.groups);
                 if (after_tile) after_tile();
               }});
  }
  bool right() const { return output == expected_; }

  std::string output;
  std::vector<std::size_t> sizes;
  std::function<void()> after_tile;

 private:
  std::string input_;
  std::string expected_;
};

TEST(Tiles, CoverAnyNumberOfGroups) {
  for (const std::size_t most : {1, 2, 7, 100}) {
    for (const std::size_t n : {0, 1, 2, 6, 7, 8, 99, 100, 101, 1000}) {
      FakeDevice device;
      MemoryPool pool(device);
      Tiles tiles(pool, kBytes, most, kPlenty);
      EXPECT_EQ(tiles.groups(), most);
      Doubling work(n);
      for (int again = 0; again < 2; ++again) {
        work.run(device, tiles);
        EXPECT_TRUE(work.right()) << n << " in tiles of " << most;
        EXPECT_EQ(work.sizes.size(), (n + most - 1) / most);
      }
      EXPECT_EQ(device.allocations, 4);
    }
  }
}

TEST(Tiles, MayBeOfFewerBytesThanTheLargest) {
  FakeDevice device;
  MemoryPool pool(device);
  Tiles tiles(pool, {5, 3}, 10, kPlenty);
  Doubling work(35);
  work.run(device, tiles);
  EXPECT_TRUE(work.right());
}

TEST(Tiles, FitTheBudget) {
  for (const std::size_t budget : {6, 7, 11, 12, 60, 65}) {
    FakeDevice device;
    MemoryPool pool(device);
    Tiles tiles(pool, kBytes, 1000, budget);
    EXPECT_EQ(tiles.groups(), budget / 6);
    EXPECT_LE(device.most_on_device, budget);
    Doubling work(50);
    work.run(device, tiles);
    EXPECT_TRUE(work.right());
  }
}

TEST(Tiles, ABudgetIsWhatIsFreeLessAMarginOrLess) {
  FakeDevice device(1600);
  MemoryPool pool(device);
  EXPECT_EQ(memory_budget(pool, 0), 1500U);
  EXPECT_EQ(memory_budget(pool, 1499), 1499U);
  EXPECT_EQ(memory_budget(pool, 5000), 1500U);
  const DeviceArray<char> some(pool, 800);
  EXPECT_EQ(memory_budget(pool, 0), 750U);
  FakeDevice full(0);
  MemoryPool pool_of_full(full);
  EXPECT_EQ(memory_budget(pool_of_full, 0), 0U);
}

TEST(Tiles, ABudgetForLessThanAGroupIsAnErrorThatTellsAllThree) {
  for (const std::size_t budget : {0, 5}) {
    FakeDevice device(123);
    MemoryPool pool(device);
    const auto message = message_of<DeviceError>([&] { Tiles(pool, kBytes, 1000, budget); });
    EXPECT_NE(message.find("fake:0 has too little memory: the job needs at least 6 bytes; 123 "
                           "bytes are free and it may use " +
                           std::to_string(budget)),
              std::string::npos)
        << message;
  }
}

// The budget may promise memory that another process has taken since.
TEST(Tiles, AreHalvedWhereMemoryIsNotThere) {
  for (const auto kind : {MemoryKind::kDevice, MemoryKind::kHost}) {
    for (const std::size_t largest : {3, 5, 6, 50, 299}) {
      FakeDevice device;
      MemoryPool pool(device);
      device.fails_for = kind;
      device.largest_allocation = largest;
      Tiles tiles(pool, kBytes, 100, kPlenty);
      EXPECT_LE(tiles.groups() * 3, largest);
      EXPECT_GT(tiles.groups() * 7, largest) << "halved too often";
      EXPECT_EQ(device.taken(), 4U);
      Doubling work(250);
      work.run(device, tiles);
      EXPECT_TRUE(work.right());
    }
    FakeDevice device;
    MemoryPool pool(device);
    device.fails_for = kind;
    device.largest_allocation = 2;
    const auto message = message_of<DeviceError>([&] { Tiles(pool, kBytes, 100, kPlenty); });
    EXPECT_NE(message.find(kind == MemoryKind::kDevice
                               ? "fake:0 has too little memory"
                               : "too little memory for transfer buffers of fake:0 (3 bytes)"),
              std::string::npos)
        << message;
    EXPECT_EQ(device.taken(), 0U);
  }
  // There is memory for the first slot, but not for the second.
  FakeDevice device(500);
  MemoryPool pool(device);
  EXPECT_EQ(Tiles(pool, kBytes, 100, kPlenty).groups(), 50U);
}

TEST(Tiles, AFailureAnywhereEndsTheRunAndLeavesNothingGoingOn) {
  FakeDevice counting;
  MemoryPool counting_pool(counting);
  Doubling work(50);
  {
    Tiles tiles(counting_pool, kBytes, 7, kPlenty);
    work.run(counting, tiles);
  }
  for (int failing = 1; failing <= counting.calls; ++failing) {
    FakeDevice device;
    MemoryPool pool(device);
    device.failing_call = failing;
    Tiles tiles(pool, kBytes, 7, kPlenty);
    EXPECT_THROW(work.run(device, tiles), DeviceError);
    EXPECT_LE(work.output.size(), 100U);
    work.run(device, tiles);  // no memory was lost
    EXPECT_TRUE(work.right());
  }
}

TEST(Tiles, AreInterruptedBetween) {
  JobControl control;
  FakeDevice device;
  MemoryPool pool(device);
  Tiles tiles(pool, kBytes, 7, kPlenty);
  Doubling work(700);
  work.after_tile = [&] {
    if (work.sizes.size() == 3) control.request_stop();
  };
  EXPECT_THROW(run_tasks(control, 1, 1,
                         [&](std::int64_t, const TaskContext& context) {
                           work.run(device, tiles, context);
                         }),
               Interrupted);
  EXPECT_EQ(work.sizes.size(), 3U);
}

}  // namespace
}  // namespace ancify
