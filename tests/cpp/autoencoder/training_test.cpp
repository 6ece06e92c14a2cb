// Training, files, codes and reconstructed maps.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "autoencoder/cells.h"
#include "core/autoencoder/autoencoder.h"
#include "core/exec/errors.h"
#include "core/models/safetensors.h"
#include "support.h"

namespace ancify::autoencoder {
namespace {

const TaskContext kAlone;

Training train(const test::Cells& cells, const Form& form, const TrainingSettings& settings,
               int threads, SimdLevel simd = best_simd_level()) {
  std::vector<bool> held_out(static_cast<std::size_t>(cells.cells));
  for (std::size_t i = 0; i < held_out.size(); i += 5) held_out[i] = true;
  Training training;
  JobControl control;
  train_autoencoder(form, 2, cells.maps(), held_out, settings, {threads, simd}, control, training);
  return training;
}

TrainingSettings settings_of(std::int64_t epochs, double share) {
  TrainingSettings settings;
  settings.epochs = epochs;
  settings.batch = 16;
  settings.share = share;
  settings.geometry = share;
  return settings;
}

TEST(AutoencoderTraining, LowersTheLossAndKeepsTheBestWeights) {
  const test::Cells cells(12, 60, 1);
  const Training trained = train(cells, {Task::kCluster, 12, 6}, settings_of(25, 0), 2);
  ASSERT_EQ(trained.epochs.size(), 25U);
  EXPECT_LT(trained.epochs.back().training_loss, 0.5 * trained.epochs.front().training_loss);
  for (const Epoch& epoch : trained.epochs) {
    EXPECT_GE(epoch.held_out_loss, trained.epochs[trained.best].held_out_loss);
  }
  // The kept weights have the reported loss.
  std::vector<double> made(cells.distances.size());
  JobControl control;
  reconstruct_maps(trained.model, cells.maps(), made.data(), {1, best_simd_level()}, control);
  double squares = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const bool held_out = i / 66 % 5 == 0;
    if (held_out) squares += std::pow((made[i] - cells.distances[i]) / 2, 2) / (12 * 66);
  }
  EXPECT_NEAR(squares, trained.epochs[trained.best].held_out_loss, 1e-4 * squares);
}

TEST(AutoencoderTraining, HasTheSameBytesAtAnyNumberOfThreads) {
  test::Cells cells(9, 40, 2);
  cells.hide(3, 4);
  for (const Task task : {Task::kCluster, Task::kDenoise, Task::kInpaint}) {
    const double share = task == Task::kCluster ? 0 : 0.2;
    const Form form = {task, 9, 5};
    const Training one = train(cells, form, settings_of(2, share), 1);
    const Training two = train(cells, form, settings_of(2, share), 2);
    EXPECT_EQ(one.model.tensors, two.model.tensors);
    EXPECT_EQ(one.epochs[1].held_out_loss, two.epochs[1].held_out_loss);
    std::vector<double> first(cells.distances.size());
    std::vector<double> second(cells.distances.size());
    JobControl control;
    reconstruct_maps(one.model, cells.maps(), first.data(), {1, best_simd_level()}, control);
    reconstruct_maps(one.model, cells.maps(), second.data(), {2, best_simd_level()}, control);
    EXPECT_EQ(first, second);
    EXPECT_EQ(encode_maps(one.model, cells.maps(), {1, best_simd_level()}, control),
              encode_maps(one.model, cells.maps(), {2, best_simd_level()}, control));
  }
}

TEST(AutoencoderTraining, LevelsAgree) {
  const test::Cells cells(9, 20, 3);
  const Form form = {Task::kInpaint, 9, 5};
  const Training plain = train(cells, form, settings_of(2, 0.1), 1, SimdLevel::kScalar);
  const Training best = train(cells, form, settings_of(2, 0.1), 1);
  EXPECT_NEAR(plain.epochs[1].held_out_loss, best.epochs[1].held_out_loss,
              1e-3 * best.epochs[1].held_out_loss);
}

// Stops in the first epoch, or later.
TEST(AutoencoderTraining, StopsAfterABatchAndKeepsWeights) {
  const test::Cells cells(9, 400, 4);
  std::vector<bool> held_out(400);
  held_out[7] = true;
  TrainingSettings settings;
  settings.epochs = 1000000;
  settings.patience = 1000000;
  settings.batch = 4;
  Training training;
  JobControl control;
  run_beside(
      control,
      [&] {
        train_autoencoder({Task::kCluster, 9, 5}, 2, cells.maps(), held_out, settings,
                          {1, best_simd_level()}, control, training);
      },
      [&] { control.request_stop(); });
  ASSERT_FALSE(training.model.tensors.empty());
  std::vector<double> made(cells.distances.size());
  JobControl other;
  reconstruct_maps(training.model, cells.maps(), made.data(), {1, best_simd_level()}, other);
  for (const double distance : made) ASSERT_TRUE(std::isfinite(distance));
}

TEST(AutoencoderTraining, RefusesExtremeNumbers) {
  test::Cells cells(9, 10, 5);
  for (double& distance : cells.distances) distance *= 1e30;
  EXPECT_THROW(train(cells, {Task::kCluster, 9, 5}, settings_of(2, 0), 1), InputError);
}

TEST(AutoencoderFiles, AreReadAsTheyWereWritten) {
  const test::Cells cells(9, 20, 6);
  const test::TempDir folder;
  for (const Task task : {Task::kCluster, Task::kDenoise, Task::kInpaint}) {
    const Autoencoder model = train(cells, {task, 9, 5}, settings_of(1, 0), 1).model;
    const std::string path = folder.file("model");
    write_autoencoder(model, path, kAlone);
    const Autoencoder again = read_autoencoder(path, kAlone);
    EXPECT_EQ(again.tensors, model.tensors);
    EXPECT_EQ(again.form.task, task);
    EXPECT_EQ(again.form.points, 9);
    EXPECT_EQ(again.form.code, 5);
    EXPECT_EQ(again.unit, 2);
  }
}

TEST(AutoencoderFiles, OfOthersAreRefused) {
  const test::Cells cells(9, 20, 7);
  const test::TempDir folder;
  const std::string path = folder.file("model");
  const Autoencoder model = train(cells, {Task::kCluster, 9, 5}, settings_of(1, 0), 1).model;
  const std::vector<TensorForm> forms = tensor_forms(model.form);
  const auto write = [&](const std::map<std::string, std::string>& notes, float unit,
                         std::size_t tensors, const std::string& more = "") {
    const std::vector<float> units = {unit};
    std::vector<NamedTensor> all = {{"unit", {1}, units}};
    if (!more.empty()) all.push_back({more, {1}, units});
    for (std::size_t i = 0; i < tensors; ++i) {
      all.push_back({forms[i].name, forms[i].shape, model.tensors[i]});
    }
    write_safetensors(all, notes, path, kAlone);
  };
  const std::size_t n = forms.size();
  write({{"task", "cluster"}, {"points", "9"}}, 2, n);
  EXPECT_EQ(read_autoencoder(path, kAlone).tensors, model.tensors);
  const auto expect_refused = [&](const char* problem) {
    try {
      read_autoencoder(path, kAlone);
      FAIL() << problem;
    } catch (const FormatError& error) {
      EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
    }
  };
  for (const char* const more : {"encode.conv9.weight", "aaa", "units"}) {
    write({{"task", "cluster"}, {"points", "9"}}, 2, n, more);
    expect_refused(more);
  }
  write({{"points", "9"}}, 2, n);
  expect_refused("note 'task' is missing");
  write({{"task", "sing"}, {"points", "9"}}, 2, n);
  expect_refused("no task 'sing'");
  for (const char* const points : {"7", "513", "9x", "", "99999999999999999999"}) {
    write({{"task", "cluster"}, {"points", points}}, 2, n);
    expect_refused("points");
  }
  write({{"task", "cluster"}, {"points", "33"}}, 2, n);
  expect_refused("encode.dense.weight");
  write({{"task", "inpaint"}, {"points", "9"}}, 2, n);
  expect_refused("encode.conv1.weight");
  write({{"task", "cluster"}, {"points", "9"}}, 0, n);
  expect_refused("unit");
  write({{"task", "cluster"}, {"points", "9"}}, 2, n - 1);
  expect_refused(forms.back().name.c_str());
  write({{"task", "cluster"}, {"points", "9"}}, 2, 3);
  expect_refused("missing, or has no width");
  std::ofstream(path) << "no model";
  EXPECT_THROW(read_autoencoder(path, kAlone), FormatError);
}

}  // namespace
}  // namespace ancify::autoencoder
