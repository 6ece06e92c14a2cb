// The network against one in double precision by NumPy
// (tests/testthat/fixtures/make_autoencoder.py), and its gradient against differences.
#include "core/autoencoder/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/nn/losses.h"
#include "core/nn/optimisers.h"
#include "nn/gradients.h"

namespace ancify::autoencoder {
namespace {

using test::difference;
using test::plain_pass;

constexpr std::int64_t kPoints = 13;
constexpr std::int64_t kSize = 16;
constexpr std::int64_t kImages = 3;
constexpr std::int64_t kCode = 7;

double wave(std::size_t i, double shift) { return std::sin(0.7 * static_cast<double>(i) + shift); }

// Figures of a task by name.
std::map<std::string, double> expected(const std::string& task) {
  std::ifstream file(ANCIFY_SOURCE_DIR "/tests/testthat/fixtures/autoencoder.csv");
  std::map<std::string, double> figures;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(',');
    const std::size_t last = line.rfind(',');
    if (line.substr(0, first) != task) continue;
    figures[line.substr(first + 1, last - first - 1)] = std::stod(line.substr(last + 1));
  }
  return figures;
}

// The weights, images and targets of the script.
struct Example {
  Form form;
  AutoencoderNetwork<double> network;
  Batch<double> images;
  Batch<double> target;

  explicit Example(Task task) : form{task, kPoints, kCode}, network(form) {
    const auto forms = tensor_forms(form);
    const auto state = network.state();
    for (std::size_t k = 0; k < forms.size(); ++k) {
      double width = 1;
      for (std::size_t d = 1; d < forms[k].shape.size(); ++d) {
        width *= static_cast<double>(forms[k].shape[d]);
      }
      const double scale = forms[k].shape.size() > 1 ? 1.5 / std::sqrt(width) : 0.1;
      for (std::size_t i = 0; i < state[k]->size(); ++i) {
        (*state[k])[i] = scale * wave(i, static_cast<double>(k));
      }
    }
    constexpr std::size_t size = kSize;
    const auto channels = static_cast<std::size_t>(form.of_task().channels);
    images.resize(kImages, static_cast<std::int64_t>(channels * size * size));
    target.resize(kImages, kSize * kSize);
    for (std::size_t c = 0; c < kImages; ++c) {
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
          const std::size_t at = (c * size + i) * size + j;
          const std::size_t transposed = (c * size + j) * size + i;
          const double distance = 1 + 0.9 * (wave(at, 0.3) + wave(transposed, 0.3)) / 2;
          double* const image = images.row(static_cast<std::int64_t>(c));
          image[i * size + j] = distance;
          if (channels == 2) image[(size + i) * size + j] = wave(at, 0.9) > -0.5 ? 1 : 0;
          const bool known = i < kPoints && j < kPoints && (i != 2 || j != 5);
          target.data[at] = known ? distance * (1.2 + 0.3 * wave(at, 2)) : std::nan("");
        }
      }
    }
  }
};

class AutoencoderTasks : public testing::TestWithParam<Task> {};

TEST_P(AutoencoderTasks, StepAsNumPyDoes) {
  const TaskContext context;
  const Pass<double> pass = plain_pass(context);
  Example example(GetParam());
  const std::map<std::string, double> wanted = expected(example.form.of_task().name);
  ASSERT_GT(wanted.size(), 30U);
  const auto expect_near = [&](const std::string& name, double value) {
    ASSERT_TRUE(wanted.count(name)) << name;
    const double figure = wanted.at(name);
    EXPECT_NEAR(value, figure, 1e-6 * std::max(1e-3, std::fabs(figure))) << name;
  };
  Adam<double> adam(example.network.parameters());
  for (int t = 1; t <= 3; ++t) {
    const Batch<double> out = example.network.forward(pass, example.images);
    if (t == 1) {
      expect_near("out0", out.row(0)[1]);
      expect_near("out1", out.row(1)[3 * kSize + 9]);
      expect_near("out2", out.row(2)[12 * kSize + 4]);
    }
    Batch<double> gradient;
    expect_near("loss" + std::to_string(t),
                masked_squared_error(out, example.target, &gradient).mean());
    example.network.backward(pass, example.images, gradient);
    adam.step(1e-3, context);
  }
  const auto forms = tensor_forms(example.form);
  const auto state = example.network.state();
  ASSERT_EQ(state.size(), forms.size());
  for (std::size_t k = 0; k < forms.size(); ++k) {
    double squares = 0;
    double product = 0;
    for (std::size_t i = 0; i < state[k]->size(); ++i) {
      squares += (*state[k])[i] * (*state[k])[i];
      product += (*state[k])[i] * wave(i, 4);
    }
    expect_near(forms[k].name + " squares", squares);
    expect_near(forms[k].name + " wave", product);
  }
}

TEST_P(AutoencoderTasks, HaveRightGradients) {
  const TaskContext context;
  const Pass<double> pass = plain_pass(context);
  Example example(GetParam());
  const auto loss = [&] {
    return masked_squared_error<double>(example.network.forward(pass, example.images),
                                        example.target, nullptr)
        .mean();
  };
  Batch<double> gradient;
  masked_squared_error(example.network.forward(pass, example.images), example.target, &gradient);
  example.network.backward(pass, example.images, gradient);
  for (Parameter<double>* parameter : example.network.parameters()) {
    const std::size_t middle = parameter->value.size() / 2;
    const double gradient_there = parameter->gradient[middle];
    EXPECT_NEAR(gradient_there, difference(parameter->value[middle], loss),
                test::kTolerance * std::max(1.0, std::fabs(gradient_there)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, AutoencoderTasks,
                         testing::Values(Task::kCluster, Task::kDenoise, Task::kInpaint));

TEST(AutoencoderNetwork, ThatCorrectsBeginsWithItsInput) {
  const TaskContext context;
  AutoencoderNetwork<double> network({Task::kInpaint, kPoints, kCode});
  network.initialise(1, 0);
  const Example example(Task::kInpaint);
  const Batch<double>& out = network.forward(plain_pass(context), example.images);
  for (std::int64_t i = 1; i < kSize; ++i) {
    EXPECT_NEAR(out.row(1)[i], example.images.row(1)[i], 1e-12);
  }
}

TEST(AutoencoderForms, HaveTheShapesOfTheState) {
  for (const Task task : {Task::kCluster, Task::kDenoise, Task::kInpaint}) {
    const Form form = {task, 40, 5};
    EXPECT_EQ(form.size(), 48);
    AutoencoderNetwork<float> network(form);
    const auto forms = tensor_forms(form);
    const auto state = network.state();
    ASSERT_EQ(forms.size(), state.size());
    for (std::size_t i = 0; i < forms.size(); ++i) {
      std::int64_t n = 1;
      for (const std::int64_t side : forms[i].shape) n *= side;
      EXPECT_EQ(static_cast<std::int64_t>(state[i]->size()), n) << forms[i].name;
    }
  }
}

}  // namespace
}  // namespace ancify::autoencoder
