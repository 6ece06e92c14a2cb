// Classifiers in files, their probabilities and steps of training, against PyTorch in double
// precision (tests/testthat/fixtures/make_classifier.py).
#include "core/models/classifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

const TaskContext kAlone;

std::string fixture(const std::string& name) {
  return ANCIFY_SOURCE_DIR "/tests/testthat/fixtures/classifier/" + name;
}

Checkpoint expected() { return Checkpoint::open(fixture("expected.safetensors"), {}); }

std::vector<float> expected_values(const std::string& name,
                                   const std::vector<std::int64_t>& shape) {
  return expected().read(name, shape, kAlone);
}

void expect_near(const std::vector<float>& x, const std::vector<float>& y, const char* what) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-6) << what << " " << i;
}

TEST(Classifier, IsReadFromAllKindsOfFiles) {
  const Classifier first = read_classifier(fixture("classifier.safetensors"), kAlone);
  EXPECT_EQ(first.width, 6);
  EXPECT_EQ(first.hidden, 10);
  EXPECT_TRUE(first.classes.empty());
  for (const char* const name : {"state.pth", "whole.pth", "whole_ordered.pth"}) {
    EXPECT_EQ(read_classifier(fixture(name), kAlone).tensors, first.tensors) << name;
  }
}

TEST(Classifier, IsWrittenAndReadAgain) {
  Classifier classifier = read_classifier(fixture("classifier.safetensors"), kAlone);
  classifier.classes = {"a \"b\" \\ \x01", "\xc3\xa9"};
  const test::TempDir folder;
  write_classifier(classifier, folder.file("c.safetensors"), kAlone);
  const Classifier again = read_classifier(folder.file("c.safetensors"), kAlone);
  EXPECT_EQ(again.tensors, classifier.tensors);
  EXPECT_EQ(again.classes, classifier.classes);
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Classifier, OtherTensorsAreRefused) {
  EXPECT_THROW(read_classifier(fixture("expected.safetensors"), kAlone), FormatError);
  Classifier classifier = read_classifier(fixture("classifier.safetensors"), kAlone);
  classifier.classes = {"a", "b"};
  classifier.tensors[5][3] = -1;
  const test::TempDir folder;
  write_classifier(classifier, folder.file("c.safetensors"), kAlone);
  EXPECT_THROW(read_classifier(folder.file("c.safetensors"), kAlone), FormatError);
}

TEST(Classifier, HasPyTorchsProbabilities) {
  const Classifier classifier = read_classifier(fixture("state.pth"), kAlone);
  const std::vector<float> wanted = expected_values("probabilities", {12});
  JobControl control;
  const std::vector<double> got =
      classify(classifier, expected_values("x", {12, 6}), {1, SimdLevel::kScalar}, control);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6);
}

TEST(Classifier, StepsAsPyTorchDoes) {
  LabelledRows rows;
  rows.values = expected_values("x", {12, 6});
  for (const float label : expected_values("labels", {12})) {
    rows.labels.push_back(static_cast<std::int32_t>(label));
  }
  TrainingSettings settings;
  settings.rate = 0.3;
  settings.seed = 21;
  Classifier classifier = read_classifier(fixture("state.pth"), kAlone);
  const std::vector<double> losses =
      train_steps(classifier, rows, {{0, 1, 2, 3, 4}, {5, 6, 7, 8}, {11, 10, 9, 0, 5}}, settings,
                  SimdLevel::kScalar, kAlone);
  const std::vector<float> wanted = expected_values("losses", {3});
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], wanted[i], 1e-6);
  const auto shapes = classifier_shapes(6, 10);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string name = kClassifierTensors[i];
    expect_near(classifier.tensors[i], expected_values("after." + name, shapes[i]), name.c_str());
  }
}

// Two classes whose means lie apart.
LabelledRows random_rows(std::int64_t n, std::int64_t width, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  LabelledRows rows;
  for (std::int64_t i = 0; i < n; ++i) {
    rows.labels.push_back(i % 3 == 0 ? 1 : 0);
    for (std::int64_t j = 0; j < width; ++j) {
      rows.values.push_back(normal(generator) +
                            (j == 0 ? 2.0F : 0.0F) * static_cast<float>(rows.labels.back()));
    }
  }
  return rows;
}

TEST(ClassifierTraining, LearnsAndKeepsTheBestWeights) {
  const LabelledRows training = random_rows(129, 4, 1);  // the last batch has one row
  const LabelledRows held_out = random_rows(60, 4, 2);
  TrainingSettings settings;
  settings.hidden = 16;
  settings.rate = 0.05;
  settings.most_epochs = 30;
  JobControl control;
  const TrainedClassifier one =
      train_classifier(4, training, held_out, settings, {1, SimdLevel::kScalar}, control);
  const TrainedClassifier two =
      train_classifier(4, training, held_out, settings, {2, SimdLevel::kScalar}, control);
  EXPECT_EQ(one.classifier.tensors, two.classifier.tensors);
  EXPECT_LT(one.epochs[one.best].held_out_loss, 0.45);
  EXPECT_TRUE(one.epochs.size() == 30 || one.epochs.size() == one.best + 6);
  for (const TrainingEpoch& epoch : one.epochs) {
    EXPECT_GE(epoch.held_out_loss, one.epochs[one.best].held_out_loss);
  }
  // The weights are those with the best loss.
  const std::vector<double> p =
      classify(one.classifier, held_out.values, {1, SimdLevel::kScalar}, control);
  double loss = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    loss -= std::log(held_out.labels[i] == 1 ? p[i] : 1 - p[i]) / static_cast<double>(p.size());
  }
  EXPECT_NEAR(loss, one.epochs[one.best].held_out_loss, 1e-6);
  settings.seed = 2;
  EXPECT_NE(train_classifier(4, training, held_out, settings, {1, SimdLevel::kScalar}, control)
                .classifier.tensors,
            one.classifier.tensors);
}

TEST(ClassifierTraining, RatesFallAndNumbersStayFinite) {
  LabelledRows training = random_rows(8, 2, 3);
  TrainingSettings settings;
  settings.hidden = 3;
  settings.patience = 100;
  settings.most_epochs = 21;
  JobControl control;
  const auto epochs =
      train_classifier(2, training, training, settings, {1, SimdLevel::kScalar}, control).epochs;
  ASSERT_EQ(epochs.size(), 21U);
  EXPECT_DOUBLE_EQ(epochs[9].rate, 2e-4);
  EXPECT_DOUBLE_EQ(epochs[10].rate, 2e-4 * 0.85);
  EXPECT_DOUBLE_EQ(epochs[20].rate, 2e-4 * 0.85 * 0.85);
  // With 1e30, variances alone are infinite.
  for (const float scale : {1e30F, 1e8F}) {
    for (float& value : training.values) value *= scale;
    EXPECT_THROW(
        train_classifier(2, training, training, settings, {1, SimdLevel::kScalar}, control),
        InputError);
  }
}

}  // namespace
}  // namespace ancify
