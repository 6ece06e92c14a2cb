// k-mers counted on fake devices against the CPU's counts.
#include "core/kmers/device_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/exec/errors.h"
#include "core/kmers/counter.h"
#include "fake_device.h"
#include "plain_kmers.h"
#include "support.h"

namespace ancify {
namespace {

using test::count_plainly;
using test::counts_of;
using test::message_of;
using test::pieces_of;
using test::random_text;
using test::read_file;
using test::some_text;
using test::TempDir;

// Sorts and counts plainly in place of the GPU's library. The workspace is overwritten.
class FakeKmerKernels : public test::FakeKernelsOf<KmerCountOperation> {
 public:
  using FakeKernelsOf::FakeKernelsOf;

  std::size_t workspace_for(const KmerCountOperation& operation) override {
    return std::visit([](const auto& op) { return needed(op); }, operation);
  }

  std::size_t tiles = 0;
  std::function<void()> after_a_step;

 private:
  template <class Key>
  static std::size_t needed(const ExpandOp<Key>& /*op*/) {
    return 0;
  }
  template <class Key>
  static std::size_t needed(const SortOp<Key>& op) {
    return op.size * sizeof(Key) + 1;
  }
  template <class Key>
  static std::size_t needed(const CountRunsOp<Key>& op) {
    return op.size + 3;
  }

  void look_at(const KmerCountOperation& operation) override {
    std::visit([this](const auto& op) { check(op); }, operation);
  }
  template <class Key>
  void check(const ExpandOp<Key>& op) {
    EXPECT_GT(op.n(), 0U);
    ++tiles;
  }
  template <class Op>
  void check(const Op& op) {
    EXPECT_GT(op.size, 0U);
    EXPECT_GE(op.workspace.bytes, needed(op));
  }

  void do_on_host(const KmerCountOperation& operation) override {
    std::visit([](const auto& op) { do_one(op); }, operation);
    if (after_a_step) after_a_step();
  }
  template <class Key>
  static void do_one(const ExpandOp<Key>& op) {
    do_parts(op);
  }
  template <class Key>
  static void do_one(const SortOp<Key>& op) {
    std::memset(op.workspace.data, 0xee, op.workspace.bytes);
    std::copy(op.from, op.from + op.size, op.to);
    const int k = op.bits / 2;
    std::sort(op.to, op.to + op.size,
              [&](Key a, Key b) { return (a & key_mask<Key>(k)) < (b & key_mask<Key>(k)); });
  }
  template <class Key>
  static void do_one(const CountRunsOp<Key>& op) {
    std::memset(op.workspace.data, 0xee, op.workspace.bytes);
    std::uint32_t runs = 0;
    for (std::size_t i = 0; i < op.size; ++i) {
      if (i > 0 && op.sorted[i] == op.sorted[i - 1]) {
        ++op.counts[runs - 1];
      } else {
        op.keys[runs] = op.sorted[i];
        op.counts[runs++] = 1;
      }
    }
    *op.runs = runs;
  }
};

// Some fake devices, and the k-mers counted on them.
class DeviceCounts : public ::testing::Test {
 protected:
  explicit DeviceCounts(std::size_t devices = 1) {
    for (std::size_t i = 0; i < devices; ++i) {
      devices_.kernels.push_back(std::make_unique<FakeKmerKernels>());
    }
    // Some partitions have more k-mers than the smallest tile, and the same ones in each tile.
    text_ = some_text(1);
    for (int i = 0; i < 60; ++i) text_ += random_text(200, 5, "ACGT");
  }

  FakeKmerKernels& kernels(std::size_t i = 0) {
    return static_cast<FakeKmerKernels&>(*devices_.kernels[i]);
  }
  test::FakeDevice& fake(std::size_t i = 0) { return kernels(i).fake; }

  KmerDatabase count(int k, const KmerDevices& devices, const std::string& stem = "") {
    JobControl control;
    KmerSettings settings = settings_;
    settings.k = k;
    return count_kmers(pieces_of(text_, 1000), settings, {memory_, dir_.path(), stem, threads_},
                       control, devices);
  }
  // The bytes of the database's files, which are removed.
  std::string bytes(int k, const KmerDevices& devices) {
    const std::string stem = dir_.file("x");
    count(k, devices, stem);
    std::string bytes;
    for (const char* const end : {".kmc_pre", ".kmc_suf"}) {
      bytes += read_file(stem + end);
      std::remove((stem + end).c_str());
    }
    EXPECT_EQ(dir_.entries(), 0);
    return bytes;
  }

  TempDir dir_;
  KmerSettings settings_;
  std::size_t memory_ = std::size_t{1} << 28;
  int threads_ = 2;
  std::string text_;
  KmerDevices devices_;
  const KmerDevices none_;
};

class ThreeDeviceCounts : public DeviceCounts {
 protected:
  ThreeDeviceCounts() : DeviceCounts(3) {}
};

constexpr std::size_t kNoLimit = 0;
constexpr std::size_t kLittle = 64 << 10;  // bytes of tiles of a few hundred k-mers

// Partitions with k-mers.
std::size_t partitions_of(const std::string& text, int k) {
  JobControl control;
  KmerDevices devices;
  devices.kernels.push_back(std::make_unique<FakeKmerKernels>());
  KmerSettings settings;
  settings.k = k;
  count_kmers(pieces_of(text, text.size()), settings, {std::size_t{1} << 28, "", "", 1}, control,
              devices);
  return static_cast<FakeKmerKernels&>(*devices.kernels[0]).tiles;
}

TEST_F(DeviceCounts, AreThoseOfTheCpu) {
  for (const int k : {13, 21, 31, 32, 33, 64}) {
    settings_.canonical = true;
    EXPECT_EQ(counts_of(count(k, devices_)), count_plainly(text_, k)) << k;
    const std::size_t partitions = partitions_of(text_, k);
    for (const bool canonical : {true, false}) {
      settings_.canonical = canonical;
      const std::string expected = bytes(k, none_);
      for (const std::size_t limit : {kNoLimit, kLittle}) {
        devices_.memory_limit = limit;
        kernels().tiles = 0;
        EXPECT_EQ(bytes(k, devices_), expected) << k;
        EXPECT_EQ(kernels().tiles > partitions, limit == kLittle) << k;
      }
    }
  }
}

TEST_F(DeviceCounts, KeepOnlyTheCountsThatAreWanted) {
  settings_.min_count = 2;
  settings_.max_count = 70;
  devices_.memory_limit = kLittle;
  const std::string expected = bytes(25, none_);
  EXPECT_EQ(bytes(25, devices_), expected);
}

TEST_F(DeviceCounts, MayBeOfNoKmerOrOfOne) {
  for (const int k : {13, 64}) {
    for (const std::size_t n : {k - 1, k}) {
      text_ = random_text(n, 7, "ACGT");
      EXPECT_EQ(counts_of(count(k, devices_)), count_plainly(text_, k));
    }
  }
  EXPECT_EQ(kernels().tiles, 2U);
}

TEST_F(DeviceCounts, StayOnTheCpuUpToTwelveBases) {
  EXPECT_EQ(counts_of(count(kMostTableK, devices_)), count_plainly(text_, kMostTableK));
  EXPECT_EQ(fake().calls, 0);
  EXPECT_EQ(fake().allocations, 0);
}

TEST_F(DeviceCounts, ComeFromTheDiskToo) {
  const std::string expected = bytes(31, none_);
  memory_ = 1;
  EXPECT_EQ(bytes(31, devices_), expected);
}

TEST_F(ThreeDeviceCounts, AreTheSame) {
  for (const int k : {21, 40}) {
    const std::string expected = bytes(k, none_);
    for (const std::size_t limit : {kNoLimit, kLittle}) {
      devices_.memory_limit = limit;
      EXPECT_EQ(bytes(k, devices_), expected);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_GT(kernels(i).tiles, 10U);
}

TEST_F(DeviceCounts, TakeNoMoreMemoryThanTheyMay) {
  for (const int k : {25, 64}) {
    devices_.memory_limit = kLittle;
    count(k, devices_);
    EXPECT_LE(fake().most_on_device, kLittle);
    EXPECT_GT(fake().most_on_device, kLittle / 4);
  }
}

TEST_F(DeviceCounts, TakeSmallerTilesWhereMemoryIsRefused) {
  const std::string expected = bytes(25, none_);
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kHost}) {
    fake().fails_for = kind;
    fake().largest_allocation = 6000;
    kernels().tiles = 0;
    EXPECT_EQ(bytes(25, devices_), expected);
    EXPECT_GT(kernels().tiles, partitions_of(text_, 25));
  }
  fake().largest_allocation = ~std::size_t{0};
  for (int i = 1; i <= 30; ++i) {
    fake().allocations = 0;
    fake().failing_allocation = i;
    EXPECT_EQ(bytes(25, devices_), expected) << i;
  }
}

TEST_F(DeviceCounts, TooLittleMemoryIsAnErrorWithTheNumbers) {
  const std::string stem = dir_.file("x");
  const auto message = [&] { return message_of<DeviceError>([&] { count(25, devices_, stem); }); };
  devices_.memory_limit = 1000;
  EXPECT_NE(message().find("it may use 1000. End other programs"), std::string::npos) << message();
  devices_.memory_limit = kNoLimit;
  fake().largest_allocation = 1000;
  EXPECT_NE(message().find("fake:0 has too little memory"), std::string::npos) << message();
  fake().fails_for = MemoryKind::kHost;
  EXPECT_NE(message().find("the host has too little memory"), std::string::npos) << message();
  EXPECT_EQ(dir_.entries(), 0);
}

TEST_F(DeviceCounts, FailuresAreErrorsAndLeaveNothing) {
  const std::string stem = dir_.file("x");
  devices_.memory_limit = kLittle;
  for (int failing = 1;; failing = failing < 30 ? failing + 1 : failing * 2) {
    fake().calls = 0;
    fake().failing_call = failing;
    fake().failed = false;
    try {
      count(25, devices_, stem);
      EXPECT_FALSE(fake().failed);
      break;
    } catch (const DeviceError&) {
      EXPECT_TRUE(fake().failed);
    }
    EXPECT_EQ(dir_.entries(), 0);
    EXPECT_EQ(fake().taken(), 0U);
  }
  EXPECT_EQ(dir_.entries(), 2);
}

TEST_F(ThreeDeviceCounts, OneMayFail) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (int failing : {1, 7, 100}) {
      fake(i).calls = 0;
      fake(i).failing_call = failing;
      EXPECT_THROW(count(25, devices_, dir_.file("x")), DeviceError);
    }
    fake(i).failing_call = 0;
  }
  EXPECT_EQ(dir_.entries(), 0);
}

TEST_F(DeviceCounts, Stop) {
  JobControl control;
  settings_.k = 25;
  kernels().after_a_step = [&] {
    if (kernels().tiles == 20) control.request_stop();
  };
  EXPECT_THROW(count_kmers(pieces_of(text_, 1000), settings_,
                           {memory_, dir_.path(), dir_.file("x"), 1}, control, devices_),
               Interrupted);
  EXPECT_LT(kernels().tiles, 24U);
  EXPECT_EQ(dir_.entries(), 0);
}

TEST(KmerDevices, AreNotOpenedWhereThereIsNoCodeForThem) {
  Backend backend;
  EXPECT_TRUE(open_kmer_devices(backend).kernels.empty());
#ifndef ANCIFY_HAVE_CUDA
  backend.kind = BackendKind::kGpu;  // as if another process had chosen it
  backend.devices = {0};
  EXPECT_THROW(open_kmer_devices(backend), DeviceError);
#endif
}

}  // namespace
}  // namespace ancify
