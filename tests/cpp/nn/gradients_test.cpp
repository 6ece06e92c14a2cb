// Gradients of layers and losses against differences in double precision, and optimisers against
// plain formulas.
#include "nn/gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/exec/threads.h"
#include "core/nn/dense_layers.h"
#include "core/nn/layers.h"
#include "core/nn/losses.h"
#include "core/nn/optimisers.h"

namespace ancify {
namespace {

using test::difference;
using test::expect_right_gradients;
using test::expect_uniform_start;
using test::kTolerance;
using test::plain_pass;
using test::random_batch;

TEST(Gradients, OfADenseLayer) {
  Dense<double> small(5, 3);
  expect_right_gradients(small, random_batch(4, 5, 1), 3);
  Dense<double> of_two_blocks(3, 130);
  expect_right_gradients(of_two_blocks, random_batch(2, 3, 1), 130);
}

TEST(Gradients, OfBatchNorm) {
  BatchNorm<double> layer(3);
  expect_right_gradients(layer, random_batch(6, 3, 2), 3);
}

TEST(Gradients, OfRelu) {
  Relu<double> layer;
  expect_right_gradients(layer, random_batch(6, 5, 3), 5);
}

TEST(Gradients, OfDropout) {
  Dropout<double> layer(0.4);
  expect_right_gradients(layer, random_batch(3, 7, 4), 7);
}

TEST(Gradients, OfCrossEntropy) {
  Batch<double> logits = random_batch(4, 3, 5);
  const std::vector<std::int32_t> labels = {0, 2, 1, 2};
  Batch<double> gradient;
  cross_entropy(logits, labels, &gradient);
  for (std::size_t i = 0; i < logits.data.size(); ++i) {
    EXPECT_NEAR(
        gradient.data[i],
        difference(logits.data[i], [&] { return cross_entropy<double>(logits, labels, nullptr); }),
        kTolerance);
  }
}

TEST(Losses, CrossEntropyHoldsLargeNumbers) {
  Batch<float> logits;
  logits.resize(1, 2);
  logits.data = {1e30F, -1e30F};
  Batch<float> gradient;
  EXPECT_EQ(cross_entropy(logits, {0}, &gradient), 0);
  EXPECT_EQ(gradient.data, (std::vector<float>{0, 0}));
}

TEST(Gradients, OfMaskedSquaredError) {
  Batch<double> out = random_batch(3, 4, 7);
  Batch<double> target = random_batch(3, 4, 8);
  target.data[1] = target.data[10] = std::nan("");
  Batch<double> gradient;
  const SquaredError error = masked_squared_error(out, target, &gradient);
  EXPECT_EQ(error.known, 10);
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    const auto loss = [&] { return masked_squared_error<double>(out, target, nullptr).mean(); };
    EXPECT_NEAR(gradient.data[i], difference(out.data[i], loss), kTolerance);
  }
  std::fill(target.data.begin(), target.data.end(), std::nan(""));
  EXPECT_EQ(masked_squared_error(out, target, &gradient).mean(), 0);
  EXPECT_EQ(gradient.data, std::vector<double>(12, 0.0));
}

TEST(Gradients, OfANetwork) {
  const TaskContext context;
  const Pass<double> pass = plain_pass(context);
  Network<double> network;
  network.add(std::make_unique<Dense<double>>(5, 4));
  network.add(std::make_unique<BatchNorm<double>>(4));
  network.add(std::make_unique<Relu<double>>());
  network.add(std::make_unique<Dropout<double>>(0.5));
  network.add(std::make_unique<Dense<double>>(4, 2));
  unsigned seed = 20;
  for (Parameter<double>* parameter : network.parameters()) {
    const auto n = static_cast<std::int64_t>(parameter->value.size());
    parameter->value = random_batch(1, n, seed++).data;
  }
  Batch<double> in = random_batch(6, 5, 6);
  const std::vector<std::int32_t> labels = {0, 1, 1, 0, 0, 1};
  const auto loss = [&] {
    return cross_entropy<double>(network.forward(pass, in), labels, nullptr);
  };
  Batch<double> gradient;
  cross_entropy(network.forward(pass, in), labels, &gradient);
  Batch<double> in_gradient;
  network.backward(pass, in, gradient, &in_gradient);
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    EXPECT_NEAR(in_gradient.data[i], difference(in.data[i], loss), kTolerance);
  }
  for (Parameter<double>* parameter : network.parameters()) {
    for (std::size_t i = 0; i < parameter->value.size(); ++i) {
      EXPECT_NEAR(parameter->gradient[i], difference(parameter->value[i], loss), kTolerance);
    }
  }
}

TEST(BatchNormLayer, UsesRunningMomentsOutsideTraining) {
  const TaskContext context;
  Pass<double> pass = plain_pass(context);
  BatchNorm<double> layer(1);
  Batch<double> in;
  in.resize(3, 1);
  in.data = {1, 2, 6};
  Batch<double> out;
  layer.forward(pass, in, out);
  EXPECT_NEAR((*layer.state()[2])[0], 0.1 * 3, 1e-15);
  EXPECT_NEAR((*layer.state()[3])[0], 0.9 + 0.1 * 7, 1e-15) << "unbiased";
  pass.training = false;
  layer.forward(pass, in, out);
  EXPECT_NEAR(out.data[2], (6 - 0.3) / std::sqrt(1.6 + 1e-5), 1e-12);
}

TEST(DropoutLayer, LeavesOutItsShareInTrainingOnly) {
  const TaskContext context;
  Pass<double> pass = plain_pass(context);
  Dropout<double> layer(0.25);
  Batch<double> in;
  in.resize(100, 401);
  std::fill(in.data.begin(), in.data.end(), 3.0);
  Batch<double> out;
  Batch<double> next;
  layer.forward(pass, in, out);
  double zeros = 0;
  for (const double number : out.data) {
    zeros += number == 0 ? 1 : 0;
    ASSERT_TRUE(number == 0 || number == 4) << number;
  }
  const double n = 40100;
  EXPECT_NEAR(zeros / n, 0.25, 5 * std::sqrt(0.25 * 0.75 / n));
  ++pass.step;
  layer.forward(pass, in, next);
  EXPECT_NE(next.data, out.data);
  pass.training = false;
  layer.forward(pass, in, out);
  EXPECT_EQ(out.data, in.data);
}

TEST(DenseLayer, StartsWithinGlorotsLimit) {
  Dense<double> layer(40, 20);
  layer.initialise(1, 0);
  expect_uniform_start(layer.parameters()[0]->value, std::sqrt(6.0 / 60), 0.003);
}

TEST(Optimisers, MoveAsTheirFormulas) {
  const TaskContext context;
  Parameter<double> by_sgd(1, 2.0);
  Parameter<double> by_adam(1, 2.0);
  Sgd<double> sgd({&by_sgd}, 0.9);
  Adam<double> adam({&by_adam});
  double speed = 0;
  double w = 2;
  double mean = 0;
  double square = 0;
  double a = 2;
  for (int t = 1; t <= 3; ++t) {
    // The loss is w^2.
    by_sgd.gradient = {2 * by_sgd.value[0]};
    by_adam.gradient = {2 * by_adam.value[0]};
    sgd.step(0.1, context);
    adam.step(0.1, context);
    speed = 0.9 * speed + 2 * w;
    w -= 0.1 * speed;
    mean = 0.9 * mean + 0.1 * 2 * a;
    square = 0.999 * square + 0.001 * 4 * a * a;
    a -=
        0.1 * mean / (1 - std::pow(0.9, t)) / (std::sqrt(square / (1 - std::pow(0.999, t))) + 1e-8);
    EXPECT_NEAR(by_sgd.value[0], w, 1e-14);
    EXPECT_NEAR(by_adam.value[0], a, 1e-14);
  }
}

// Trains a network of floats for a few steps, and returns all of its numbers.
std::vector<std::vector<float>> trained(SimdLevel level, int threads) {
  std::vector<std::vector<float>> result;
  JobControl control;
  run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
    Network<float> network;
    std::uint64_t stream = 0;
    const auto dense = [&](std::int64_t in, std::int64_t out) {
      auto layer = std::make_unique<Dense<float>>(in, out);
      layer->initialise(5, stream++);
      network.add(std::move(layer));
    };
    dense(700, 300);
    network.add(std::make_unique<BatchNorm<float>>(300));
    network.add(std::make_unique<Relu<float>>());
    network.add(std::make_unique<Dropout<float>>(0.5));
    dense(300, 2);
    Sgd<float> sgd(network.parameters(), 0.9F);
    const Batch<double> numbers = random_batch(32, 700, 8);
    Batch<float> in;
    in.resize(32, 700);
    std::copy(numbers.data.begin(), numbers.data.end(), in.data.begin());
    std::vector<std::int32_t> labels(32);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i % 3 == 0 ? 1 : 0;
    Pass<float> pass = {products_of(level), context, true, 9, 0};
    Batch<float> gradient;
    for (; pass.step < 4; ++pass.step) {
      cross_entropy(network.forward(pass, in), labels, &gradient);
      network.backward(pass, in, gradient);
      sgd.step(0.01F, context);
    }
    for (const std::vector<float>* numbers_of : network.state()) result.push_back(*numbers_of);
  });
  return result;
}

TEST(Training, HasTheSameBytesAtAnyNumberOfThreads) {
  for (int level = 0; level <= static_cast<int>(best_simd_level()); ++level) {
    const auto simd = static_cast<SimdLevel>(level);
    EXPECT_EQ(trained(simd, 1), trained(simd, 2));
  }
}

}  // namespace
}  // namespace ancify
