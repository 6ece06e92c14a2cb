// Compares gradients of layers with differences, in double precision.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "core/exec/threads.h"
#include "core/nn/network.h"

namespace ancify::test {

constexpr double kTolerance = 1e-7;

inline Batch<double> random_batch(std::int64_t rows, std::int64_t width, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Batch<double> batch;
  batch.resize(rows, width);
  for (double& number : batch.data) number = normal(generator);
  return batch;
}

// Weights that start uniform from -limit to limit have a mean square of limit^2 / 3.
inline void expect_uniform_start(const std::vector<double>& weights, double limit,
                                 double tolerance) {
  double most = 0;
  double squares = 0;
  for (const double weight : weights) {
    most = std::max(most, std::fabs(weight));
    squares += weight * weight / static_cast<double>(weights.size());
  }
  EXPECT_LE(most, limit);
  EXPECT_GT(most, 0.99 * limit);
  EXPECT_NEAR(squares, limit * limit / 3, tolerance);
}

inline Pass<double> plain_pass(const TaskContext& context) {
  return {kPlainProducts<double>, context, true, 7, 3};
}

// The derivative of `value()` with respect to a number, by a difference.
inline double difference(double& number, const std::function<double()>& value) {
  constexpr double step = 1e-5;
  const double kept = number;
  number = kept + step;
  const double high = value();
  number = kept - step;
  const double low = value();
  number = kept;
  return (high - low) / (2 * step);
}

// The loss is the sum of outputs, each with a random weight.
inline void expect_right_gradients(Layer<double>& layer, Batch<double> in, std::int64_t out_width) {
  const TaskContext context;
  const Pass<double> pass = plain_pass(context);
  const Batch<double> weights = random_batch(in.rows, out_width, 11);
  unsigned seed = 12;
  for (Parameter<double>* parameter : layer.parameters()) {
    const auto n = static_cast<std::int64_t>(parameter->value.size());
    parameter->value = random_batch(1, n, seed++).data;
  }
  Batch<double> out;
  const auto loss = [&] {
    layer.forward(pass, in, out);
    double sum = 0;
    for (std::size_t i = 0; i < out.data.size(); ++i) sum += weights.data[i] * out.data[i];
    return sum;
  };
  loss();
  ASSERT_EQ(out.width, out_width);
  Batch<double> in_gradient;
  layer.backward(pass, in, out, weights, &in_gradient);
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    ASSERT_NEAR(in_gradient.data[i], difference(in.data[i], loss), kTolerance) << "input " << i;
  }
  for (Parameter<double>* parameter : layer.parameters()) {
    const std::vector<double> gradient = parameter->gradient;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_NEAR(gradient[i], difference(parameter->value[i], loss), kTolerance)
          << "parameter " << i;
    }
  }
}

}  // namespace ancify::test
