// Classifiers of embeddings in two classes: Linear(width, hidden), batch norm, ReLU, dropout,
// Linear(hidden, 2). VirNucPro uses this form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/models/tensors.h"

namespace ancify {

// The tensors' names in files, in the order of the network's state.
constexpr std::array<const char*, 8> kClassifierTensors = {
    "hidden_layer.weight", "hidden_layer.bias", "bn1.weight",          "bn1.bias",
    "bn1.running_mean",    "bn1.running_var",   "output_layer.weight", "output_layer.bias"};

struct Classifier {
  std::int64_t width = 0;
  std::int64_t hidden = 0;
  std::array<std::vector<float>, kClassifierTensors.size()> tensors;
  // The names of both classes; empty if the file lacks them.
  std::vector<std::string> classes;
};

// The shape of each tensor, in the order of kClassifierTensors.
std::array<std::vector<std::int64_t>, kClassifierTensors.size()> classifier_shapes(
    std::int64_t width, std::int64_t hidden);

// Reads a safetensors file or a torch file. FormatError if it has no classifier of this form.
Classifier read_classifier(const std::string& path, const TaskContext& context);

// Writes a safetensors file, which appears whole or not at all.
void write_classifier(const Classifier& classifier, const std::string& path,
                      const TaskContext& context);

// Rows of embeddings of length `width`, each with a label of 0 or 1.
struct LabelledRows {
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  std::int64_t rows() const { return static_cast<std::int64_t>(labels.size()); }
};

struct ClassifierRun {
  int threads = 1;
  SimdLevel simd = SimdLevel::kScalar;
};

// The probability of the second class for each row.
std::vector<double> classify(const Classifier& classifier, const std::vector<float>& rows,
                             const ClassifierRun& run, JobControl& control);

struct TrainingSettings {
  std::int64_t hidden = 512;
  std::int64_t batch = 32;
  double rate = 2e-4;
  double momentum = 0.9;
  double rate_factor = 0.85;  // after each `rate_epochs` epochs
  std::int64_t rate_epochs = 10;
  std::int64_t patience = 5;  // epochs without gain
  std::int64_t most_epochs = 200;
  double dropout = 0.5;
  std::uint64_t seed = 1;
};

// Means over the training rows, as they were seen, and over the held-out rows.
struct TrainingEpoch {
  double rate;
  double training_loss;
  double held_out_loss;
};

struct TrainedClassifier {
  Classifier classifier;  // of the epoch with the smallest held-out loss
  std::size_t best = 0;
  std::vector<TrainingEpoch> epochs;
};

// InputError if training yields non-finite values.
TrainedClassifier train_classifier(std::int64_t width, const LabelledRows& training,
                                   const LabelledRows& held_out, const TrainingSettings& settings,
                                   const ClassifierRun& run, JobControl& control);

// Steps of stochastic gradient descent from the weights of a classifier: step i takes the rows that
// batches[i] names. Returns each step's loss.
std::vector<double> train_steps(Classifier& classifier, const LabelledRows& rows,
                                const std::vector<std::vector<std::int64_t>>& batches,
                                const TrainingSettings& settings, SimdLevel simd,
                                const TaskContext& context);

}  // namespace ancify
