// Autoencoders on a fake device against the CPU's, and devices that fail.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autoencoder/cells.h"
#include "core/autoencoder/autoencoder.h"
#include "core/exec/errors.h"
#include "distance.h"
#include "nn/fake_network.h"
#include "support.h"

namespace ancify::autoencoder {
namespace {

using test::relative_distance;

TrainingSettings one_epoch(Task task) {
  TrainingSettings settings;
  settings.epochs = 1;
  settings.batch = 4;
  settings.share = task == Task::kCluster ? 0 : 0.2;
  return settings;
}

std::vector<float> joined(const Training& training) {
  std::vector<float> all;
  for (const std::vector<float>& tensor : training.model.tensors) {
    all.insert(all.end(), tensor.begin(), tensor.end());
  }
  return all;
}

class DeviceAutoencoders : public ::testing::Test {
 protected:
  DeviceAutoencoders() { cells_.hide(3, 4); }

  autoencoder::Run on_device(std::size_t memory_limit = 0) {
    return {1, SimdLevel::kScalar, &kernels_, memory_limit};
  }
  Training train(Task task, const TrainingSettings& settings, const autoencoder::Run& run) {
    std::vector<bool> held_out(static_cast<std::size_t>(cells_.cells));
    for (std::size_t i = 0; i < held_out.size(); i += 5) held_out[i] = true;
    Training training;
    JobControl control;
    train_autoencoder({task, cells_.points, 5}, 2, cells_.maps(), held_out, settings, run, control,
                      training);
    return training;
  }
  std::vector<double> reconstruct(const Autoencoder& model, const autoencoder::Run& run) {
    std::vector<double> made(cells_.distances.size());
    JobControl control;
    reconstruct_maps(model, cells_.maps(), made.data(), run, control);
    return made;
  }
  std::vector<float> encode(const Autoencoder& model, const autoencoder::Run& run) {
    JobControl control;
    return encode_maps(model, cells_.maps(), run, control);
  }

  test::Cells cells_{9, 14, 1};
  test::FakeNetworkKernels kernels_;
  const autoencoder::Run on_cpu_ = {1, SimdLevel::kScalar};
};

TEST_F(DeviceAutoencoders, LearnAsTheCpuDoes) {
  for (const Task task : {Task::kCluster, Task::kDenoise, Task::kInpaint}) {
    const Training expected = train(task, one_epoch(task), on_cpu_);
    const Training found = train(task, one_epoch(task), on_device());
    ASSERT_EQ(found.epochs.size(), 1U);
    EXPECT_NEAR(found.epochs[0].training_loss, expected.epochs[0].training_loss,
                1e-5 * expected.epochs[0].training_loss);
    EXPECT_NEAR(found.epochs[0].held_out_loss, expected.epochs[0].held_out_loss,
                1e-5 * expected.epochs[0].held_out_loss);
    EXPECT_LT(relative_distance(joined(found).data(), joined(expected)), 1e-4)
        << kTasks[static_cast<std::size_t>(task)].name;
    EXPECT_GT(kernels_.fake.calls, 0);
  }
}

TEST_F(DeviceAutoencoders, MakeTheCpusCodesAndMaps) {
  for (const Task task : {Task::kCluster, Task::kDenoise, Task::kInpaint}) {
    const Autoencoder model = train(task, one_epoch(task), on_cpu_).model;
    const std::vector<float> codes = encode(model, on_cpu_);
    const std::vector<double> maps = reconstruct(model, on_cpu_);
    EXPECT_LT(relative_distance(encode(model, on_device()).data(), codes), 1e-6);
    const std::vector<double> found = reconstruct(model, on_device());
    for (std::size_t i = 0; i < maps.size(); ++i) ASSERT_NEAR(found[i], maps[i], 1e-5);
  }
}

// More cells than one group holds; the last cells are a group of their own.
TEST_F(DeviceAutoencoders, TakeCellsInGroups) {
  cells_ = test::Cells(8, 130, 2);
  const Autoencoder model = train(Task::kCluster, one_epoch(Task::kCluster), on_cpu_).model;
  EXPECT_LT(relative_distance(encode(model, on_device()).data(), encode(model, on_cpu_)), 1e-6);
  cells_.cells = 0;
  EXPECT_TRUE(encode(model, on_device()).empty());
}

TEST_F(DeviceAutoencoders, FailAtAnyCallAndLeaveNothing) {
  cells_ = test::Cells(8, 10, 3);
  const TrainingSettings settings = one_epoch(Task::kInpaint);
  const Autoencoder model = train(Task::kInpaint, settings, on_device()).model;
  const int of_training = kernels_.fake.calls;
  encode(model, on_device());
  const int of_codes = kernels_.fake.calls - of_training;
  ASSERT_GT(of_codes, 20);
  for (int i = 1; i <= of_training; i += 17) {
    test::FakeNetworkKernels failing;
    failing.fake.failing_call = i;
    EXPECT_THROW(train(Task::kInpaint, settings, {1, SimdLevel::kScalar, &failing}), DeviceError)
        << i;
    EXPECT_EQ(failing.fake.taken(), 0U) << i;
  }
  for (int i = 1; i <= of_codes; ++i) {
    test::FakeNetworkKernels failing;
    failing.fake.failing_call = i;
    EXPECT_THROW(encode(model, {1, SimdLevel::kScalar, &failing}), DeviceError) << i;
    EXPECT_EQ(failing.fake.taken(), 0U) << i;
  }
}

TEST_F(DeviceAutoencoders, TooLittleMemoryIsAnErrorWithTheNumbers) {
  cells_ = test::Cells(8, 10, 4);
  const TrainingSettings settings = one_epoch(Task::kCluster);
  for (const std::size_t limit : {1000, 2200000}) {
    const std::string said =
        test::message_of<DeviceError>([&] { train(Task::kCluster, settings, on_device(limit)); });
    EXPECT_NE(said.find("it may use " + std::to_string(limit) + ". End other programs"),
              std::string::npos)
        << said;
  }
  train(Task::kCluster, settings, on_device());
  const int all = kernels_.fake.allocations;
  for (int i = 1; i <= all; i += 7) {
    test::FakeNetworkKernels failing;
    failing.fake.failing_allocation = i;
    // It may release idle memory, and try again.
    try {
      train(Task::kCluster, settings, {1, SimdLevel::kScalar, &failing});
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find("too little memory"), std::string::npos);
    }
    EXPECT_EQ(failing.fake.taken(), 0U) << i;
  }
}

TEST_F(DeviceAutoencoders, RefuseTheGeometryLoss) {
  TrainingSettings settings = one_epoch(Task::kCluster);
  settings.geometry = 1;
  EXPECT_NE(test::message_of<InputError>([&] {
              train(Task::kCluster, settings, on_device());
            }).find("geometry"),
            std::string::npos);
}

TEST_F(DeviceAutoencoders, AreOnTheCpuWithoutADevice) {
  EXPECT_EQ(open_network_device(Backend()), nullptr);
}

}  // namespace
}  // namespace ancify::autoencoder
