// Layers at each level against plain loops in double precision.
#include "core/nn/layers.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/nn/vector_math.h"
#include "matrices/random_numbers.h"

namespace ancify {
namespace {

Rows rows_of(std::vector<float>& data, std::int64_t rows, std::int64_t width, std::int64_t stride) {
  return {data.data(), rows, width, stride};
}

// Rows may be in any order, overlap, or coincide.
TEST(Layers, AddProductsOfRowsAtAnyPlaces) {
  for (const SimdLevel level : levels()) {
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 16, 1},
                                  {7, 32, 3},
                                  {9, 48, 300},
                                  {16, 64, 520},
                                  {21, 80, 9}}) {
      std::vector<std::int64_t> a_rows;
      std::vector<std::int64_t> b_rows;
      for (std::int64_t i = 0; i < m; ++i) a_rows.push_back((m - i) / 2 * 5);
      for (std::int64_t i = 0; i < k; ++i) b_rows.push_back(i * 37 % 101);
      const auto a = random_numbers<float>(5 * m + k, 1);
      const auto b = random_numbers<float>(101 + n, 2);
      auto c = random_numbers<float>(m * (n + 1), 3);
      std::vector<float> expected = c;
      PlacedProduct product = {m,        n,    k, a.data(), a_rows.data(), b.data(), b_rows.data(),
                               c.data(), n + 1};
      layers_of(level).add_product(product);
      product.c = expected.data();
      add_product_plainly(product);
      for (std::size_t i = 0; i < c.size(); ++i) {
        ASSERT_NEAR(c[i], expected[i], 1e-6 * std::sqrt(static_cast<double>(k)) * 8);
      }
      EXPECT_EQ(c[static_cast<std::size_t>(n)], expected[static_cast<std::size_t>(n)])
          << "beside the matrix";
    }
  }
}

TEST(PlainProduct, AddsRowsWhereTheyAre) {
  // a = (1 2; 2 3), b = (5 ... 20; 6 ... 21)
  const std::vector<double> a = {1, 2, 3};
  std::vector<double> b;
  for (int i = 5; i <= 21; ++i) b.push_back(i);
  const std::vector<std::int64_t> rows = {0, 1};
  std::vector<double> c(32, 100);
  add_product_plainly<double>(
      {2, 16, 2, a.data(), rows.data(), b.data(), rows.data(), c.data(), 16});
  for (std::size_t j = 0; j < 16; ++j) {
    const auto left = static_cast<double>(5 + j);
    EXPECT_EQ(c[j], 100 + left + 2 * (left + 1));
    EXPECT_EQ(c[16 + j], 100 + 2 * left + 3 * (left + 1));
  }
}

TEST(PlainProduct, TransposesWhatItIsTold) {
  // a = (1 2; 3 4), b = (5 6; 7 8)
  const std::vector<double> a = {1, 2, 3, 4};
  const std::vector<double> b = {5, 6, 7, 8};
  const auto product = [&](bool a_transposed, bool b_transposed) {
    std::vector<double> c(4);
    multiply_plainly<double>(
        {2, 2, 2, a.data(), 2, b.data(), 2, b_transposed, c.data(), 2, a_transposed});
    return c;
  };
  EXPECT_EQ(product(false, false), (std::vector<double>{19, 22, 43, 50}));
  EXPECT_EQ(product(false, true), (std::vector<double>{17, 23, 39, 53}));
  EXPECT_EQ(product(true, false), (std::vector<double>{26, 30, 38, 44}));
  EXPECT_EQ(product(true, true), (std::vector<double>{23, 31, 34, 46}));
}

TEST(Layers, NormaliseRows) {
  const std::int64_t rows = 3;
  for (const SimdLevel level : levels()) {
    for (const std::int64_t width : {1, 5, 16, 37, 320}) {
      auto x = random_numbers<float>(rows * (width + 2), 3);
      const auto gain = random_numbers<float>(width, 4);
      const auto bias = random_numbers<float>(width, 5);
      std::vector<float> out(x.size());
      layers_of(level).layer_norm(rows_of(x, rows, width, width + 2),
                                  {gain.data(), bias.data(), 1e-5F},
                                  rows_of(out, rows, width, width + 2));
      for (std::int64_t i = 0; i < rows; ++i) {
        const float* const row = x.data() + i * (width + 2);
        double mean = 0;
        double variance = 0;
        for (std::int64_t j = 0; j < width; ++j) mean += row[j] / static_cast<double>(width);
        for (std::int64_t j = 0; j < width; ++j) {
          variance += (row[j] - mean) * (row[j] - mean) / static_cast<double>(width);
        }
        for (std::int64_t j = 0; j < width; ++j) {
          const auto at = static_cast<std::size_t>(j);
          const double expected =
              (row[j] - mean) / std::sqrt(variance + 1e-5) * gain[at] + bias[at];
          ASSERT_NEAR(out[static_cast<std::size_t>(i * (width + 2)) + at], expected, 2e-5);
        }
      }
    }
  }
}

TEST(Layers, SoftmaxAddsUpToOne) {
  for (const SimdLevel level : levels()) {
    for (const std::int64_t width : {1, 2, 15, 16, 100}) {
      auto x = random_numbers<float>(2 * width, 6);
      for (float& number : x) number *= 30;
      const auto before = x;
      layers_of(level).softmax(rows_of(x, 2, width, width));
      for (std::int64_t i = 0; i < 2; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < width; ++j) {
          sum += std::exp(static_cast<double>(before[static_cast<std::size_t>(i * width + j)]));
        }
        for (std::int64_t j = 0; j < width; ++j) {
          const auto at = static_cast<std::size_t>(i * width + j);
          ASSERT_NEAR(x[at], std::exp(static_cast<double>(before[at])) / sum, 1e-6);
        }
      }
    }
  }
}

TEST(Layers, RotatePairsHalfAHeadApart) {
  for (const SimdLevel level : levels()) {
    const std::int64_t half = 12;
    auto x = random_numbers<float>(3 * 30, 7);
    const auto before = x;
    std::vector<float> cosines;
    std::vector<float> sines;
    for (int i = 0; i < 3 * half; ++i) {
      cosines.push_back(std::cos(0.3F * static_cast<float>(i)));
      sines.push_back(std::sin(0.3F * static_cast<float>(i)));
    }
    layers_of(level).rotate(rows_of(x, 3, 2 * half, 30), {cosines.data(), sines.data(), half},
                            0.5F);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 12; ++j) {
        const float low = before[i * 30 + j] / 2;
        const float high = before[i * 30 + j + 12] / 2;
        EXPECT_NEAR(x[i * 30 + j], low * cosines[i * 12 + j] - high * sines[i * 12 + j], 1e-6);
        EXPECT_NEAR(x[i * 30 + j + 12], high * cosines[i * 12 + j] + low * sines[i * 12 + j], 1e-6);
      }
      EXPECT_EQ(x[i * 30 + 24], before[i * 30 + 24]) << "beside the head";
    }
  }
}

TEST(Layers, GateHalvesOfRows) {
  for (const SimdLevel level : levels()) {
    for (const std::int64_t width : {1, 5, 16, 37}) {
      auto x = random_numbers<float>(2 * (2 * width + 3), 8);
      std::vector<float> out(static_cast<std::size_t>(2 * (width + 1)), 7);
      layers_of(level).gate(rows_of(x, 2, 2 * width, 2 * width + 3),
                            rows_of(out, 2, width, width + 1));
      for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
          const double one = x[static_cast<std::size_t>(i * (2 * width + 3) + j)];
          const double other = x[static_cast<std::size_t>(i * (2 * width + 3) + width + j)];
          ASSERT_NEAR(out[static_cast<std::size_t>(i * (width + 1) + j)],
                      one * std::erfc(-one / std::sqrt(2.0)) / 2 * other, 1e-6);
        }
        EXPECT_EQ(out[static_cast<std::size_t>(i * (width + 1) + width)], 7) << "beside the row";
      }
    }
  }
}

TEST(Layers, SlopesFallWithDistance) {
  for (const SimdLevel level : levels()) {
    auto x = random_numbers<float>(3 * 22, 9);
    const auto before = x;
    layers_of(level).scale_and_slope(rows_of(x, 3, 21, 22), 5, 0.5F, 0.25F);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 21; ++j) {
        const auto at = static_cast<std::size_t>(i * 22 + j);
        EXPECT_NEAR(x[at], before[at] / 2 - 0.25F * static_cast<float>(std::abs(i + 5 - j)), 1e-6);
      }
      EXPECT_EQ(x[static_cast<std::size_t>(i * 22 + 21)],
                before[static_cast<std::size_t>(i * 22 + 21)]);
    }
  }
}

TEST(Layers, GeluIsByTheErrorFunction) {
  for (const SimdLevel level : levels()) {
    std::vector<float> x;
    for (int i = -1300; i <= 1300; ++i) x.push_back(static_cast<float>(i) / 100);
    const auto before = x;
    const std::vector<float> bias(x.size(), 0.001F);
    layers_of(level).add_bias_gelu(rows_of(x, 1, static_cast<std::int64_t>(x.size()), 0),
                                   bias.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double at = static_cast<double>(before[i] + bias[i]);
      const double expected = at * 0.5 * std::erfc(-at / std::sqrt(2.0));
      ASSERT_NEAR(x[i], expected, 1e-7 * std::max(1.0, std::fabs(at))) << at;
    }
  }
}

TEST(Layers, KeepWhatIsNotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const SimdLevel level : levels()) {
    const Layers& layers = layers_of(level);
    const std::vector<float> ones(20, 1);
    for (const std::size_t at : {0U, 3U, 17U, 19U}) {
      std::vector<float> x(20, 1);
      x[at] = nan;
      auto y = x;
      auto z = x;
      layers.softmax(rows_of(x, 1, 20, 20));
      layers.layer_norm(rows_of(y, 1, 20, 20), {ones.data(), ones.data(), 1e-5F},
                        rows_of(y, 1, 20, 20));
      layers.add_bias_gelu(rows_of(z, 1, 20, 20), ones.data());
      EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[19]));
      EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[19]));
      EXPECT_TRUE(std::isnan(z[at]));
    }
  }
}

TEST(VectorMath, ExponentialIsWithinTwoUnits) {
  double worst = 0;
  for (int i = 0; i <= 87000; ++i) {
    const float x = -static_cast<float>(i) / 1000;
    const double expected = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::fabs(exp_negative(x) - expected) / expected);
  }
  EXPECT_LT(worst, 2 * 1.2e-7);
  EXPECT_EQ(exp_negative(0), 1);
  EXPECT_LT(exp_negative(-1e30F), 1.7e-38F);
}

}  // namespace
}  // namespace ancify
