// Products on fake devices against the CPU's, byte for byte.
#include "core/genotypes/device_products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "core/genotypes/genotype_products.h"
#include "core/genotypes/standardise.h"
#include "genotypes/fake_products.h"
#include "genotypes/memory_genotypes.h"
#include "genotypes/on_devices.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;

struct Size {
  std::int64_t samples;
  std::int64_t variants;
  double missing;
};

constexpr Size kSizes[] = {{1, 1, 0},      {1, 3, 1},    {2, 5, 0.5},   {3, 257, 0},
                           {63, 256, 0.1}, {65, 300, 0}, {130, 513, 1}, {190, 600, 0.02}};

TEST(DeviceProducts, AreThoseOfTheCpu) {
  for (const Size& size : kSizes) {
    const Calls calls = Calls::random(size.samples, size.variants, size.missing, 7);
    for (const ProductBits bits : {ProductBits::k28, ProductBits::k56}) {
      for (const int columns : {1, 5}) {
        const Case what = {columns, columns, bits, kAllBlocks};
        const auto expected = on_cpu(calls, what);
        for (const std::size_t number : {1, 3}) {
          for (const bool much : {true, false}) {
            const FakeProductDevices devices(number);
            if (!much) devices.all()->memory_limit = little(size.samples, what);
            const auto matrix = matrix_of(calls, 0, devices.all());
            ASSERT_EQ(products_of(*matrix, what), expected) << size.samples << " " << number;
            // The same again, with genotypes already on the devices.
            ASSERT_EQ(products_of(*matrix, what), expected) << size.samples << " " << number;
          }
        }
      }
    }
  }
}

TEST(DeviceProducts, MayHaveManyColumns) {
  const Calls calls = Calls::random(66, 260, 0.1, 7);
  const Case what = {129, 129, ProductBits::k28, kAllBlocks};
  const FakeProductDevices devices(2);
  EXPECT_EQ(products_of(*matrix_of(calls, 0, devices.all()), what), on_cpu(calls, what));
}

TEST(DeviceProducts, OfListsAreTheSame) {
  for (const std::int64_t n : {65, 257}) {
    const Calls calls = Calls::rare(n, 600, 3);
    const Case what = {3, 2, ProductBits::k56, kAllBlocks};
    const FakeProductDevices devices(2);
    const auto matrix = matrix_of(calls, 0, devices.all());
    EXPECT_FALSE(matrix->layout(0).listed.empty());
    EXPECT_EQ(products_of(*matrix, what), on_cpu(calls, what));
  }
}

TEST(DeviceProducts, MayLackAHalf) {
  const Calls calls = Calls::random(100, 600, 0.1, 7);
  for (const Case& what :
       {Case{3, 0, ProductBits::k28, kAllBlocks}, Case{0, 3, ProductBits::k28, kAllBlocks},
        Case{0, 0, ProductBits::k56, kAllBlocks}}) {
    const FakeProductDevices devices(2);
    const auto matrix = matrix_of(calls, 0, devices.all());
    EXPECT_EQ(products_of(*matrix, what), on_cpu(calls, what));
    EXPECT_EQ(devices.kernels().first_halves > 0, what.columns > 0);
    EXPECT_EQ(devices.kernels().second_halves > 0, what.out_columns > 0);
  }
}

TEST(DeviceProducts, TakeTheWantedBlocksAlone) {
  const Calls calls = Calls::random(100, 1700, 0.1, 7);
  const FakeProductDevices devices(1);
  const auto matrix = matrix_of(calls, 0, devices.all());
  const std::vector<Wanted> several = {[](std::int64_t block) { return block % 3 == 1; },
                                       [](std::int64_t) { return false; }, kAllBlocks,
                                       [](std::int64_t block) { return block != 2; }};
  for (const Wanted& wanted : several) {
    const Case what = {2, 3, ProductBits::k28, wanted};
    EXPECT_EQ(products_of(*matrix, what), on_cpu(calls, what));
  }
}

TEST(DeviceProducts, GenotypesGoUpOnceIfTheyFit) {
  const Calls calls = Calls::random(100, 1700, 0.1, 7);
  const Case what = {2, 2, ProductBits::k28, kAllBlocks};
  const std::size_t rows = 7 * kBlockQuads * static_cast<std::size_t>(quad_stride(100));
  for (const bool fit : {true, false}) {
    const FakeProductDevices devices(1);
    if (!fit) devices.all()->memory_limit = little(100, what);
    const auto matrix = matrix_of(calls, 0, devices.all());
    products_of(*matrix, what);
    const std::size_t first = devices.fake().uploaded;
    products_of(*matrix, what);
    const std::size_t second = devices.fake().uploaded - first;
    EXPECT_GT(second, 0U);
    EXPECT_EQ(first - second, fit ? rows : 0);
    EXPECT_EQ(devices.kernels().second_halves, fit ? 2U : 14U);
  }
}

TEST(DeviceProducts, OfGenotypesThatTheHostReadsAnew) {
  const Calls calls = Calls::random(100, 1700, 0.1, 7);
  const Case what = {2, 6, ProductBits::k28, kAllBlocks};
  const auto expected = on_cpu(calls, what);
  const std::int64_t block = kBlockQuads * quad_stride(100);
  for (const std::size_t number : {1, 2}) {
    const FakeProductDevices devices(number);
    const auto matrix = matrix_of(calls, 3 * block, devices.all());
    EXPECT_FALSE(matrix->resident());
    EXPECT_EQ(products_of(*matrix, what), expected);
    EXPECT_EQ(products_of(*matrix, what), expected);
  }
}

TEST(DeviceProducts, DevicesShareSamples) {
  const Calls calls = Calls::random(400, 300, 0.1, 7);
  const Case what = {2, 2, ProductBits::k28, kAllBlocks};
  const FakeProductDevices devices(9);
  EXPECT_EQ(products_of(*matrix_of(calls, 0, devices.all()), what), on_cpu(calls, what));
  // 400 samples are 7 lanes.
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(devices.kernels(i).first_halves, i < 7 ? 1U : 0U);
}

TEST(DeviceProducts, TakeNoMoreMemoryThanTheyMay) {
  const Calls calls = Calls::random(200, 1700, 0.1, 7);
  const Case what = {4, 4, ProductBits::k28, kAllBlocks};
  const auto expected = on_cpu(calls, what);
  for (const std::size_t limit :
       {little(200, what), 3 * little(200, what), 5 * little(200, what), std::size_t{10} << 20}) {
    const FakeProductDevices devices(1);
    devices.all()->memory_limit = limit;
    const auto matrix = matrix_of(calls, 0, devices.all());
    for (int pass = 0; pass < 2; ++pass) EXPECT_EQ(products_of(*matrix, what), expected);
    EXPECT_LE(devices.fake().most_on_device, limit);
    EXPECT_GT(devices.fake().most_on_device, std::min(limit, std::size_t{1} << 20) / 4);
  }
}

// Genotypes kept in memory give way to a pass with more columns.
TEST(DeviceProducts, GiveUpKeptGenotypesForColumns) {
  const Calls calls = Calls::random(200, 1700, 0.1, 7);
  const Case few = {1, 1, ProductBits::k28, kAllBlocks};
  const Case many = {40, 40, ProductBits::k28, kAllBlocks};
  const FakeProductDevices devices(1);
  devices.all()->memory_limit = little(200, many);
  const auto matrix = matrix_of(calls, 0, devices.all());
  products_of(*matrix, few);
  const std::size_t first = devices.fake().uploaded;
  products_of(*matrix, few);
  EXPECT_LT(devices.fake().uploaded - first, first / 2);
  EXPECT_EQ(products_of(*matrix, many), on_cpu(calls, many));
  EXPECT_EQ(products_of(*matrix, few), on_cpu(calls, few));
}

// Rows that were refused do not count against the limit.
TEST(DeviceProducts, HaveTheWholeLimitWhereRowsAreRefused) {
  const Calls calls = Calls::random(200, 1700, 0.1, 7);
  const Case few = {1, 1, ProductBits::k28, kAllBlocks};
  const Case many = {10, 10, ProductBits::k28, kAllBlocks};
  const FakeProductDevices devices(1);
  devices.all()->memory_limit = little(200, many);
  devices.fake().largest_allocation =
      7 * kBlockQuads * static_cast<std::size_t>(quad_stride(200)) - 1;
  const auto matrix = matrix_of(calls, 0, devices.all());
  for (const Case& what : {few, many}) EXPECT_EQ(products_of(*matrix, what), on_cpu(calls, what));
}

// The genotypes of one kernel leave memory for the genotypes of another.
TEST(DeviceProducts, OfSeveralMatricesShareTheMemory) {
  const Calls calls = Calls::random(200, 1700, 0.1, 7);
  const Case few = {1, 1, ProductBits::k28, kAllBlocks};
  const Case many = {40, 40, ProductBits::k28, kAllBlocks};
  // Enough for many columns, but not beside the genotypes of the other matrix.
  const FakeProductDevices devices(1, little(200, many) * 7 / 10);
  const auto one = matrix_of(calls, 0, devices.all());
  {
    const auto other = matrix_of(calls, 0, devices.all());
    for (const Case& what : {few, few}) EXPECT_EQ(products_of(*one, what), on_cpu(calls, what));
    EXPECT_EQ(products_of(*other, many), on_cpu(calls, many));
    EXPECT_EQ(products_of(*one, few), on_cpu(calls, few));
  }
  EXPECT_EQ(products_of(*one, many), on_cpu(calls, many));
}

TEST(DeviceProducts, TakeSmallerTilesWhereMemoryIsRefused) {
  const Calls calls = Calls::random(100, 1700, 0.1, 7);
  const Case what = {2, 2, ProductBits::k28, kAllBlocks};
  const auto expected = on_cpu(calls, what);
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kHost}) {
    const FakeProductDevices devices(2);
    devices.fake(1).fails_for = kind;
    devices.fake(1).largest_allocation = 20000;
    EXPECT_EQ(products_of(*matrix_of(calls, 0, devices.all()), what), expected);
    EXPECT_GT(devices.kernels(0).second_halves, 1U);
    EXPECT_EQ(devices.kernels(0).second_halves, devices.kernels(1).second_halves);
  }
  for (int i = 1; i <= 30; ++i) {
    const FakeProductDevices devices(2);
    devices.fake(i % 2).failing_allocation = i;
    const auto matrix = matrix_of(calls, 0, devices.all());
    EXPECT_EQ(products_of(*matrix, what), expected) << i;
    EXPECT_EQ(products_of(*matrix, what), expected) << i;
  }
}

TEST(DeviceProducts, TooLittleMemoryIsAnErrorWithTheNumbers) {
  const Calls calls = Calls::random(100, 300, 0.1, 7);
  const FakeProductDevices devices(2);
  const auto message = [&] {
    return message_of<DeviceError>([&] {
      products_of(*matrix_of(calls, 0, devices.all()), {2, 2, ProductBits::k28, kAllBlocks});
    });
  };
  devices.all()->memory_limit = 1000;
  EXPECT_NE(message().find("it may use 1000. End other programs"), std::string::npos) << message();
  devices.all()->memory_limit = 0;
  devices.fake(1).largest_allocation = 500;
  EXPECT_NE(message().find("fake:1 has too little memory"), std::string::npos) << message();
  devices.fake(1).fails_for = MemoryKind::kHost;
  EXPECT_NE(message().find("the host has too little memory"), std::string::npos) << message();
}

// Each call of each device fails in turn; the devices release all memory, as they check themselves.
TEST(DeviceProducts, AFailureOfADeviceIsAnError) {
  const Calls calls = Calls::random(130, 600, 0.1, 7);
  const Case what = {2, 2, ProductBits::k28, kAllBlocks};
  for (const bool eager : {false, true}) {
    for (const std::size_t failing_device : {0, 1}) {
      int failed = 0;
      for (int failing = 1;; ++failing) {
        const FakeProductDevices devices(2);
        devices.all()->memory_limit = little(64, what);
        for (std::size_t i = 0; i < 2; ++i) devices.fake(i).eager = [=] { return eager; };
        auto& fake = devices.fake(failing_device);
        fake.failing_call = failing;
        const auto matrix = matrix_of(calls, 0, devices.all());
        const std::string message = message_of<DeviceError>([&] { products_of(*matrix, what); });
        if (!fake.failed) break;
        ++failed;
        EXPECT_EQ(message.find("fake:" + std::to_string(failing_device) + " failed in"), 0U);
        // The next pass is right again.
        fake.failing_call = 0;
        EXPECT_EQ(products_of(*matrix, what), on_cpu(calls, what)) << failing;
      }
      EXPECT_GT(failed, 20);
    }
  }
}

// A device may execute the work of a stream at once, or only when it is waited for.
TEST(DeviceProducts, DoNotDependOnWhenStreamsWork) {
  const Calls calls = Calls::random(100, 1300, 0.1, 7);
  const Case what = {2, 2, ProductBits::k28, kAllBlocks};
  const auto expected = on_cpu(calls, what);
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const FakeProductDevices devices(1);
    devices.all()->memory_limit = little(100, what);
    std::mt19937 random(seed);
    devices.fake().eager = [&] { return random() % 6 == 0; };
    ASSERT_EQ(products_of(*matrix_of(calls, 0, devices.all()), what), expected) << seed;
  }
}

TEST(DeviceProducts, StopBetweenTiles) {
  const Calls calls = Calls::random(100, 1700, 0.1, 7);
  const Case what = {2, 2, ProductBits::k28, kAllBlocks};
  const FakeProductDevices devices(1);
  devices.all()->memory_limit = little(100, what);
  const auto matrix = matrix_of(calls, 0, devices.all());
  JobControl control;
  devices.kernels().after_an_operation = [&] { control.request_stop(); };
  EXPECT_THROW(products_of(*matrix, what, control), Interrupted);
  EXPECT_LT(devices.kernels().second_halves, 4U);
}

TEST(DeviceProducts, RefuseNumbersThatAreNotFinite) {
  const FakeProductDevices devices(1);
  const auto matrix = matrix_of(Calls::random(10, 7, 0, 1), 0, devices.all());
  const std::vector<double> v(10, NAN);
  JobControl control;
  GenotypeProducts::Pass pass;
  pass.v = v.data();
  pass.columns = 1;
  pass.wanted = kAllBlocks;
  const auto nothing = [](const GenotypeBlock&, const double*, double*) {};
  EXPECT_THROW(standardise(*matrix, -1).run(control, pass, nothing), InputError);
  EXPECT_EQ(devices.fake().calls, 0);
}

TEST(DeviceProducts, TheCpuHasNoDevices) {
  EXPECT_TRUE(open_product_devices(Backend())->kernels.empty());
  const auto matrix = matrix_of(Calls::random(10, 7, 0, 1), 0, open_product_devices(Backend()));
  EXPECT_EQ(matrix->on_devices(), nullptr);
}

}  // namespace
}  // namespace ancify
