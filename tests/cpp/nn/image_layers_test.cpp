// Layers of images against plain loops, and their gradients against differences.
#include "core/nn/image_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/nn/layers.h"
#include "nn/gradients.h"

namespace ancify {
namespace {

using test::expect_right_gradients;
using test::expect_uniform_start;
using test::plain_pass;
using test::random_batch;

TEST(ConvolutionLayer, IsASumOverNeighbours) {
  const TaskContext context;
  const std::int64_t size = 5;
  Convolution<double> layer(2, 3, size);
  layer.parameters()[0]->value = random_batch(1, 54, 1).data;
  layer.parameters()[1]->value = {1, 2, 3};
  const std::vector<double>& weight = layer.parameters()[0]->value;
  const Batch<double> in = random_batch(10, 2 * size * size, 2);  // two groups
  Batch<double> out;
  layer.forward(plain_pass(context), in, out);
  ASSERT_EQ(out.width, 3 * size * size);
  const auto pixel = [&](std::int64_t image, std::int64_t channel, std::int64_t i, std::int64_t j) {
    const bool inside = i >= 0 && i < size && j >= 0 && j < size;
    return inside ? in.row(image)[(channel * size + i) * size + j] : 0;
  };
  for (const std::int64_t image : {5, 9}) {
    for (std::int64_t at = 0; at < out.width; ++at) {
      const std::int64_t o = at / (size * size);
      const std::int64_t i = at / size % size;
      const std::int64_t j = at % size;
      double sum = layer.parameters()[1]->value[static_cast<std::size_t>(o)];
      for (std::int64_t k = 0; k < 18; ++k) {
        sum += weight[static_cast<std::size_t>(o * 18 + k)] *
               pixel(image, k / 9, i + k % 9 / 3 - 1, j + k % 3 - 1);
      }
      ASSERT_NEAR(out.row(image)[at], sum, 1e-12);
    }
  }
}

Batch<float> random_floats(std::int64_t rows, std::int64_t width, unsigned seed) {
  const Batch<double> from = random_batch(rows, width, seed);
  Batch<float> batch;
  batch.resize(rows, width);
  std::copy(from.data.begin(), from.data.end(), batch.data.begin());
  return batch;
}

// More channels than a vector has lanes, and more rows than a block.
TEST(ConvolutionLayer, IsThatOfPlainProductsAtEachLevel) {
  const TaskContext context;
  for (const auto& [from, to, size] :
       {std::array<std::int64_t, 3>{19, 33, 6}, {21, 18, 5}, {2, 5, 33}}) {
    const Batch<float> in = random_floats(3, from * size * size, 4);
    const Batch<float> out_gradient = random_floats(3, to * size * size, 5);
    const auto results = [&, from = from, to = to, size = size](const ProductsOf<float>& products) {
      const Pass<float> pass = {products, context, true};
      Convolution<float> layer(from, to, size);
      layer.parameters()[0]->value = random_floats(1, 9 * from * to, 3).data;
      Batch<float> out;
      Batch<float> gradient;
      layer.forward(pass, in, out);
      layer.backward(pass, in, out, out_gradient, &gradient);
      return std::vector<std::vector<float>>{out.data, gradient.data,
                                             layer.parameters()[0]->gradient,
                                             layer.parameters()[1]->gradient};
    };
    const auto expected = results(kPlainProducts<float>);
    for (int level = 0; level <= static_cast<int>(best_simd_level()); ++level) {
      const auto made = results(products_of(static_cast<SimdLevel>(level)));
      for (std::size_t k = 0; k < made.size(); ++k) {
        for (std::size_t i = 0; i < made[k].size(); ++i) {
          ASSERT_NEAR(made[k][i], expected[k][i], 2e-4) << "level " << level << ", result " << k;
        }
      }
    }
  }
}

TEST(ConvolutionLayer, HasTheSameBytesAtAnyNumberOfThreads) {
  const auto run = [](int threads) {
    std::vector<std::vector<float>> result;
    JobControl control;
    run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
      const Pass<float> pass = {products_of(best_simd_level()), context, true};
      Convolution<float> layer(3, 4, 12);
      layer.parameters()[0]->value = random_floats(1, 108, 3).data;
      const Batch<float> in = random_floats(13, 3 * 144, 4);
      Batch<float> out;
      Batch<float> gradient;
      layer.forward(pass, in, out);
      layer.backward(pass, in, out, random_floats(13, 4 * 144, 5), &gradient);
      result = {out.data, gradient.data, layer.parameters()[0]->gradient,
                layer.parameters()[1]->gradient};
    });
    return result;
  };
  EXPECT_EQ(run(1), run(2));
}

TEST(ImageGradients, OfConvolution) {
  Convolution<double> layer(2, 3, 4);
  expect_right_gradients(layer, random_batch(5, 2 * 16, 6), 3 * 16);
  Convolution<double> narrows(3, 2, 3);
  expect_right_gradients(narrows, random_batch(9, 3 * 9, 6), 2 * 9);  // two groups
  Convolution<double> of_one_pixel(2, 1, 1);
  expect_right_gradients(of_one_pixel, random_batch(2, 2, 7), 1);
}

TEST(ImageGradients, OfMaxPool) {
  MaxPool<double> layer(2, 4);
  expect_right_gradients(layer, random_batch(3, 2 * 16, 8), 2 * 4);
}

TEST(ImageGradients, OfUpsample) {
  Upsample<double> layer(2, 3);
  expect_right_gradients(layer, random_batch(2, 2 * 9, 9), 2 * 36);
}

TEST(ImageGradients, OfSoftplus) {
  Softplus<double> layer;
  expect_right_gradients(layer, random_batch(2, 9, 10), 9);
}

TEST(ImageGradients, OfSymmetricImage) {
  SymmetricImage<double> layer(4);
  expect_right_gradients(layer, random_batch(3, 16, 13), 16);
}

TEST(SymmetricImageLayer, ProjectsAndIsItsOwnAdjoint) {
  const TaskContext context;
  SymmetricImage<double> layer(5);
  const Batch<double> x = random_batch(2, 25, 14);
  const Batch<double> y = random_batch(2, 25, 15);
  Batch<double> px;
  Batch<double> py;
  Batch<double> twice;
  layer.forward(plain_pass(context), x, px);
  layer.forward(plain_pass(context), y, py);
  layer.forward(plain_pass(context), px, twice);
  EXPECT_EQ(twice.data, px.data);
  double left = 0;
  double right = 0;
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    left += px.data[i] * y.data[i];
    right += x.data[i] * py.data[i];
  }
  EXPECT_NEAR(left, right, 1e-13);
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(px.row(1)[6 * i], 0);
    for (std::int64_t j = 0; j < i; ++j) EXPECT_EQ(px.row(1)[5 * i + j], px.row(1)[5 * j + i]);
  }
}

TEST(ConvolutionLayer, StartsWithinHesLimit) {
  Convolution<double> layer(4, 50, 2);
  layer.initialise(3, 1);
  expect_uniform_start(layer.parameters()[0]->value, std::sqrt(6.0 / 36), 0.005);
}

TEST(MaxPoolLayer, TakesTheLargestOfEachWindow) {
  const TaskContext context;
  MaxPool<double> layer(1, 4);
  Batch<double> in;
  in.resize(1, 16);
  in.data = {1, 2, 3, 3,  //
             0, 1, 3, 3,  //
             5, 6, 9, 8,  //
             7, 8, 7, 6};
  Batch<double> out;
  layer.forward(plain_pass(context), in, out);
  EXPECT_EQ(out.data, (std::vector<double>{2, 3, 8, 9}));
  Batch<double> gradient;
  layer.backward(plain_pass(context), in, out, out, &gradient);
  EXPECT_EQ(gradient.data, (std::vector<double>{0, 2, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 8, 0, 0}))
      << "of equal ones the first";
}

TEST(UpsampleLayer, RepeatsPixels) {
  const TaskContext context;
  Upsample<double> layer(1, 2);
  Batch<double> in;
  in.resize(1, 4);
  in.data = {1, 2, 3, 4};
  Batch<double> out;
  layer.forward(plain_pass(context), in, out);
  EXPECT_EQ(out.data, (std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}));
}

TEST(SoftplusLayer, HoldsLargeNumbers) {
  const TaskContext context;
  Softplus<double> layer;
  Batch<double> in;
  in.resize(1, 3);
  in.data = {-800, 0, 800};
  Batch<double> out;
  layer.forward(plain_pass(context), in, out);
  EXPECT_EQ(out.data, (std::vector<double>{0, std::log(2.0), 800}));
}

}  // namespace
}  // namespace ancify
