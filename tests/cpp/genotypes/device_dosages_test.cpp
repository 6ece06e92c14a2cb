// Products with dosages on fake devices against the CPU's, byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "core/genotypes/device_products.h"
#include "genotypes/fake_products.h"
#include "genotypes/memory_dosages.h"
#include "genotypes/on_devices.h"

namespace ancify {
namespace {

// Blocks of dosages around blocks of calls, with and without missing genotypes.
Dosages mixed_blocks(std::int64_t samples) {
  Dosages dosages = Dosages::random(samples, 2 * kBlockVariants, 0.1, {16384}, 1);
  dosages.append(Dosages::random(samples, kBlockVariants, 0.1, {1}, 2));
  dosages.append(Dosages::random(samples, kBlockVariants, 0, {255, 1000}, 3));
  dosages.append(Dosages::random(samples, 2 * kBlockVariants, 0, {1}, 4));
  dosages.append(Dosages::random(samples, 37, 0.02, {16384}, 5));
  return dosages;
}

std::size_t bytes_of_mixed_blocks(std::int64_t samples) {
  return (4 * device_rows(true) + 3 * device_rows(false)) *
         static_cast<std::size_t>(quad_stride(samples));
}

TEST(DeviceDosages, GiveTheBytesOfTheCpu) {
  struct Size {
    std::int64_t samples;
    std::int64_t variants;
    double missing;
    std::vector<int> units;
  };
  for (const Size& size : {Size{1, 1, 0, {16384}}, Size{2, 5, 0.5, {2}}, Size{63, 256, 0.1, {255}},
                           Size{65, 300, 0, {16384}}, Size{130, 513, 0.9, {16384, 1000}},
                           Size{190, 600, 0.02, {255, 16384}}}) {
    const Dosages dosages =
        Dosages::random(size.samples, size.variants, size.missing, size.units, 7);
    for (const ProductBits bits : {ProductBits::k28, ProductBits::k56}) {
      for (const int columns : {1, 5}) {
        const Case what = {columns, columns, bits, kAllBlocks};
        const auto expected = on_cpu(dosages, what);
        for (const std::size_t number : {1, 3}) {
          for (const bool much : {true, false}) {
            const FakeProductDevices devices(number);
            if (!much) devices.all()->memory_limit = little(size.samples, what, true);
            const auto matrix = matrix_of(dosages, 0, devices.all());
            ASSERT_EQ(products_of(*matrix, what), expected) << size.samples << " " << number;
            // The same again, with genotypes already on the devices.
            ASSERT_EQ(products_of(*matrix, what), expected) << size.samples << " " << number;
          }
        }
      }
    }
  }
}

TEST(DeviceDosages, MayLieBesideCalls) {
  const Dosages dosages = mixed_blocks(100);
  for (const Wanted& wanted : {kAllBlocks, Wanted([](std::int64_t block) { return block != 2; }),
                               Wanted([](std::int64_t block) { return block % 2 == 0; })}) {
    const Case what = {3, 2, ProductBits::k56, wanted};
    const auto expected = on_cpu(dosages, what);
    for (const std::size_t number : {1, 2}) {
      for (const bool much : {true, false}) {
        const FakeProductDevices devices(number);
        if (!much) devices.all()->memory_limit = little(100, what, true);
        const auto matrix = matrix_of(dosages, 0, devices.all());
        EXPECT_TRUE(matrix->any_calls() && matrix->any_dosages());
        EXPECT_EQ(products_of(*matrix, what), expected);
        EXPECT_EQ(products_of(*matrix, what), expected);
      }
    }
  }
}

TEST(DeviceDosages, MayLackAHalf) {
  const Dosages dosages = mixed_blocks(70);
  for (const Case& what :
       {Case{3, 0, ProductBits::k28, kAllBlocks}, Case{0, 3, ProductBits::k56, kAllBlocks}}) {
    const FakeProductDevices devices(2);
    EXPECT_EQ(products_of(*matrix_of(dosages, 0, devices.all()), what), on_cpu(dosages, what));
  }
}

TEST(DeviceDosages, GoUpOnceIfTheyFit) {
  const Dosages dosages = mixed_blocks(100);
  const Case what = {2, 2, ProductBits::k28, kAllBlocks};
  for (const bool fit : {true, false}) {
    const FakeProductDevices devices(1);
    if (!fit) devices.all()->memory_limit = little(100, what, true);
    const auto matrix = matrix_of(dosages, 0, devices.all());
    products_of(*matrix, what);
    const std::size_t first = devices.fake().uploaded;
    products_of(*matrix, what);
    EXPECT_EQ(2 * first - devices.fake().uploaded, fit ? bytes_of_mixed_blocks(100) : 0);
  }
}

TEST(DeviceDosages, TakeNoMoreMemoryThanTheyMay) {
  const Dosages dosages = mixed_blocks(200);
  const Case what = {4, 4, ProductBits::k28, kAllBlocks};
  const auto expected = on_cpu(dosages, what);
  const std::size_t least = little(200, what, true);
  for (const std::size_t limit : {least, 2 * least, 3 * least, std::size_t{10} << 20}) {
    const FakeProductDevices devices(1);
    devices.all()->memory_limit = limit;
    const auto matrix = matrix_of(dosages, 0, devices.all());
    for (int pass = 0; pass < 2; ++pass) EXPECT_EQ(products_of(*matrix, what), expected);
    EXPECT_LE(devices.fake().most_on_device, limit);
  }
}

TEST(DeviceDosages, MayBeReadAnewInEachPass) {
  const Dosages dosages = mixed_blocks(100);
  const Case what = {2, 6, ProductBits::k28, kAllBlocks};
  const auto expected = on_cpu(dosages, what);
  const std::int64_t block =
      stored_bytes(dosed_layout(kBlockVariants, kMostUnit, kBlockVariants * 100), 100);
  for (const std::size_t number : {1, 2}) {
    const FakeProductDevices devices(number);
    const auto matrix = matrix_of(dosages, 2 * block, devices.all());
    EXPECT_FALSE(matrix->resident());
    for (int pass = 0; pass < 2; ++pass) EXPECT_EQ(products_of(*matrix, what), expected);
  }
}

// Steps of blocks that differ in kind are added in order, whenever streams work.
TEST(DeviceDosages, DoNotDependOnWhenStreamsWork) {
  const Dosages dosages = mixed_blocks(100);
  const Case what = {2, 2, ProductBits::k28, kAllBlocks};
  const auto expected = on_cpu(dosages, what);
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const FakeProductDevices devices(1);
    if (seed % 2 == 0) devices.all()->memory_limit = little(100, what, true);
    std::mt19937 random(seed);
    devices.fake().eager = [&] { return random() % 6 == 0; };
    ASSERT_EQ(products_of(*matrix_of(dosages, 0, devices.all()), what), expected) << seed;
  }
}

}  // namespace
}  // namespace ancify
