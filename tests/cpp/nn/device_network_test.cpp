// Layers on a fake device against the CPU's, forward and backward.
#include "core/nn/device_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "core/nn/optimisers.h"
#include "distance.h"
#include "nn/fake_network.h"
#include "nn/gradients.h"
#include "support.h"

namespace ancify {
namespace {

using test::relative_distance;

// For sums in single precision, in another order than on the CPU.
constexpr double kError = 5e-6;

Batch<float> random_floats(std::int64_t rows, std::int64_t width, unsigned seed) {
  const Batch<double> from = test::random_batch(rows, width, seed);
  Batch<float> batch;
  batch.resize(rows, width);
  std::copy(from.data.begin(), from.data.end(), batch.data.begin());
  return batch;
}

class DeviceLayers : public ::testing::Test {
 protected:
  Batch<OnDevice> there(const Batch<float>& batch) {
    Batch<OnDevice> copy;
    pass_.resize(copy, batch.rows, batch.width);
    kernels_.fake.upload(copy.data.data(), batch.data.data(), batch.data.size(), 0);
    kernels_.fake.wait(0);
    return copy;
  }
  std::vector<float> here(const float* from, std::size_t n) {
    std::vector<float> numbers(n);
    kernels_.fake.download(numbers.data(), from, n, 0);
    kernels_.fake.wait(0);
    return numbers;
  }
  std::vector<float> here(const Batch<OnDevice>& batch) {
    return here(batch.data.data(), static_cast<std::size_t>(batch.rows * batch.width));
  }

  // Compares the outputs of both layers for a batch, and their gradients.
  void expect_equal(Layer<float>& layer, Layer<OnDevice>& other, const Batch<float>& in) {
    const TaskContext context;
    const Pass<float> pass = {kPlainProducts<float>, context, true};
    std::vector<std::vector<float>> weights;
    for (Parameter<float>* parameter : layer.parameters()) {
      const auto n = static_cast<std::int64_t>(parameter->value.size());
      parameter->value = random_floats(1, n, static_cast<unsigned>(n)).data;
      weights.push_back(parameter->value);
    }
    Batch<float> out;
    layer.forward(pass, in, out);
    const Batch<float> gradient = random_floats(out.rows, out.width, 8);
    Batch<float> in_gradient;
    layer.backward(pass, in, out, gradient, &in_gradient);

    const Batch<OnDevice> in_there = there(in);
    const Batch<OnDevice> gradient_there = there(gradient);
    std::optional<DeviceParameters> parameters;
    if (!weights.empty()) parameters.emplace(workspace_, other.parameters(), weights, true);
    Batch<OnDevice> out_there;
    Batch<OnDevice> in_gradient_there;
    other.forward(pass_, in_there, out_there);
    other.backward(pass_, in_there, out_there, gradient_there, &in_gradient_there);
    ASSERT_EQ(out_there.width, out.width);
    ASSERT_EQ(in_gradient_there.width, in.width);
    EXPECT_LT(relative_distance(here(out_there).data(), out.data), kError);
    EXPECT_LT(relative_distance(here(in_gradient_there).data(), in_gradient.data), kError);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::vector<float>& expected = layer.parameters()[i]->gradient;
      const float* const found = other.parameters()[i]->gradient.data();
      EXPECT_LT(relative_distance(here(found, expected.size()).data(), expected), kError) << i;
    }
    // Gradients of parameters alone
    other.backward(pass_, in_there, out_there, gradient_there, nullptr);
    kernels_.fake.wait(0);
  }

  test::FakeNetworkKernels kernels_;
  NetworkWorkspace workspace_{kernels_, 0};
  Pass<OnDevice> pass_{workspace_, 0, true};
};

TEST_F(DeviceLayers, AreThoseOfTheCpu) {
  Dense<float> dense(7, 3);
  Dense<OnDevice> dense_there(7, 3);
  expect_equal(dense, dense_there, random_floats(5, 7, 1));
  for (const std::int64_t size : {2, 6, 12}) {
    // The windows of many images of 12 x 12 are two parts.
    const std::int64_t images = size == 12 ? 30 : 6;
    Convolution<float> convolution(3, 5, size);
    Convolution<OnDevice> convolution_there(3, 5, size);
    expect_equal(convolution, convolution_there, random_floats(images, 3 * size * size, 2));
    SymmetricImage<float> symmetric(size);
    SymmetricImage<OnDevice> symmetric_there(size);
    expect_equal(symmetric, symmetric_there, random_floats(3, size * size, 3));
    Upsample<float> upsample(2, size);
    Upsample<OnDevice> upsample_there(2, size);
    expect_equal(upsample, upsample_there, random_floats(3, 2 * size * size, 4));
  }
  for (const std::int64_t size : {2, 6}) {
    MaxPool<float> pool(3, size);
    MaxPool<OnDevice> pool_there(3, size);
    expect_equal(pool, pool_there, random_floats(2, 3 * size * size, 5));
  }
  Relu<float> relu;
  Relu<OnDevice> relu_there;
  expect_equal(relu, relu_there, random_floats(3, 50, 6));
  Softplus<float> softplus;
  Softplus<OnDevice> softplus_there;
  expect_equal(softplus, softplus_there, random_floats(3, 50, 7));
}

TEST_F(DeviceLayers, StepAsAdamDoes) {
  const TaskContext context;
  Parameter<float> parameter(5000);
  Parameter<OnDevice> parameter_there(5000);
  parameter.value = random_floats(1, 5000, 1).data;
  Adam<float> adam({&parameter});
  DeviceParameters there(workspace_, {&parameter_there}, {parameter.value}, true);
  for (unsigned step = 0; step < 3; ++step) {
    parameter.gradient = random_floats(1, 5000, 2 + step).data;
    kernels_.fake.upload(parameter_there.gradient.there, parameter.gradient.data(), 5000, 1);
    adam.step(1e-3F, context);
    there.step(1e-3F, 1);
    EXPECT_EQ(there.values(1)[0], parameter.value);
  }
}

TEST_F(DeviceLayers, TooLittleMemoryIsAnErrorWithTheNumbers) {
  NetworkWorkspace workspace(kernels_, 10000);
  Batch<OnDevice> batch;
  const Pass<OnDevice> pass = {workspace};
  pass.resize(batch, 10, 100);
  pass.resize(batch, 20, 100);  // in place of the first
  const std::string said = test::message_of<DeviceError>([&] { pass.resize(batch, 30, 100); });
  EXPECT_NE(said.find("needs at least 12000 bytes"), std::string::npos) << said;
  EXPECT_NE(said.find("it may use 10000. End other programs"), std::string::npos) << said;
}

}  // namespace
}  // namespace ancify
