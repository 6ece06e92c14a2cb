// Each epoch visits all training rows in a new random order. Random numbers are blocks of Philox, a
// function of the seed, a stream and a position: a stream serves the dropout of a step, the weights
// of a layer, or the order of an epoch.
#include "core/models/classifier.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/zip_entries.h"
#include "core/models/safetensors.h"
#include "core/nn/dense_layers.h"
#include "core/nn/layers.h"
#include "core/nn/losses.h"
#include "core/nn/network.h"
#include "core/nn/optimisers.h"
#include "core/nn/random_numbers.h"

namespace ancify {

namespace {

// Lower streams are for steps.
constexpr std::uint64_t kWeightStream = std::uint64_t{1} << 62;
constexpr std::uint64_t kOrderStream = std::uint64_t{1} << 63;

struct ClassifierNetwork {
  Network<float> layers;
  Dense<float>* hidden;
  Dense<float>* output;
};

ClassifierNetwork new_network(std::int64_t width, std::int64_t hidden, double dropout) {
  ClassifierNetwork network;
  auto first = std::make_unique<Dense<float>>(width, hidden);
  auto last = std::make_unique<Dense<float>>(hidden, 2);
  network.hidden = first.get();
  network.output = last.get();
  network.layers.add(std::move(first));
  network.layers.add(std::make_unique<BatchNorm<float>>(hidden));
  network.layers.add(std::make_unique<Relu<float>>());
  network.layers.add(std::make_unique<Dropout<float>>(dropout));
  network.layers.add(std::move(last));
  return network;
}

void set_tensors(const Classifier& classifier, Network<float>& network) {
  const auto state = network.state();
  for (std::size_t i = 0; i < state.size(); ++i) *state[i] = classifier.tensors[i];
}

void get_tensors(Network<float>& network, Classifier& classifier) {
  const auto state = network.state();
  for (std::size_t i = 0; i < state.size(); ++i) classifier.tensors[i] = *state[i];
}

bool is_finite(const Classifier& classifier) {
  return std::all_of(classifier.tensors.begin(), classifier.tensors.end(), [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
  });
}

// A subset of the rows, in the network's input layout.
class Gatherer {
 public:
  Gatherer(const std::vector<float>& values, std::int64_t width) : values_(values), width_(width) {}

  const Batch<float>& gather(const std::int64_t* rows, std::int64_t n) {
    batch_.resize(n, width_);
    for (std::int64_t i = 0; i < n; ++i) {
      std::copy_n(values_.data() + rows[i] * width_, width_, batch_.row(i));
    }
    return batch_;
  }

 private:
  const std::vector<float>& values_;
  std::int64_t width_;
  Batch<float> batch_;
};

// Calls use(first row, logits) on blocks of rows, outside training.
void for_logits(Network<float>& network, const Pass<float>& pass, const std::vector<float>& values,
                std::int64_t width,
                const std::function<void(std::int64_t first, const Batch<float>& logits)>& use) {
  constexpr std::int64_t kBlock = 512;
  const std::int64_t n = static_cast<std::int64_t>(values.size()) / width;
  Batch<float> block;
  for (std::int64_t first = 0; first < n; first += kBlock) {
    pass.context.throw_if_stopped();
    block.resize(std::min(kBlock, n - first), width);
    std::copy_n(values.data() + first * width, block.data.size(), block.data.data());
    use(first, network.forward(pass, block));
  }
}

class Trainer {
 public:
  Trainer(std::int64_t width, const TrainingSettings& settings, SimdLevel simd,
          const TaskContext& context)
      : settings_(settings),
        context_(context),
        products_(products_of(simd)),
        width_(width),
        network_(new_network(width, settings.hidden, settings.dropout)),
        sgd_(network_.layers.parameters(), static_cast<float>(settings.momentum)) {}

  void initialise() {
    network_.hidden->initialise(settings_.seed, kWeightStream);
    network_.output->initialise(settings_.seed, kWeightStream + 1);
  }
  Network<float>& network() { return network_.layers; }

  // The loss of the batch before the step.
  double step(Gatherer& from, const std::vector<std::int32_t>& labels, const std::int64_t* rows,
              std::int64_t n, double rate) {
    context_.throw_if_stopped();
    const Batch<float>& in = from.gather(rows, n);
    labels_.clear();
    for (std::int64_t i = 0; i < n; ++i) {
      labels_.push_back(labels[static_cast<std::size_t>(rows[i])]);
    }
    const Pass<float> pass = {products_, context_, true, settings_.seed, steps_++};
    const double loss = cross_entropy(network_.layers.forward(pass, in), labels_, &gradient_);
    network_.layers.backward(pass, in, gradient_);
    sgd_.step(static_cast<float>(rate), context_);
    return loss;
  }

  double epoch(Gatherer& from, const std::vector<std::int32_t>& labels, std::uint64_t number,
               double rate) {
    const auto n = static_cast<std::int64_t>(labels.size());
    const std::vector<std::int64_t> order = random_order(n, settings_.seed, kOrderStream + number);
    double sum = 0;
    std::int64_t met = 0;
    for (std::int64_t first = 0; first < n; first += settings_.batch) {
      const std::int64_t rows = std::min(settings_.batch, n - first);
      if (rows < 2) break;  // a single row has no variance
      sum += static_cast<double>(rows) * step(from, labels, order.data() + first, rows, rate);
      met += rows;
    }
    return sum / static_cast<double>(met);
  }

  double loss(const LabelledRows& rows) {
    double sum = 0;
    std::vector<std::int32_t> labels;
    const Pass<float> pass = {products_, context_};
    for_logits(network_.layers, pass, rows.values, width_,
               [&](std::int64_t first, const Batch<float>& logits) {
                 const auto from = rows.labels.begin() + first;
                 labels.assign(from, from + logits.rows);
                 sum += static_cast<double>(logits.rows) *
                        cross_entropy<float>(logits, labels, nullptr);
               });
    return sum / static_cast<double>(rows.rows());
  }

 private:
  const TrainingSettings& settings_;
  const TaskContext& context_;
  ProductsOf<float> products_;
  std::int64_t width_;
  ClassifierNetwork network_;
  Sgd<float> sgd_;
  std::uint64_t steps_ = 0;
  std::vector<std::int32_t> labels_;
  Batch<float> gradient_;
};

std::vector<std::string> classes_of(const std::map<std::string, std::string>& notes) {
  const auto first = notes.find("class0");
  const auto second = notes.find("class1");
  if (first == notes.end() || second == notes.end()) return {};
  return {first->second, second->second};
}

// The names of a file's first tensors, for messages.
std::string tensors_told(const Checkpoint& checkpoint) {
  constexpr std::size_t most = 4;
  const std::vector<std::string> names = checkpoint.names();
  std::string told;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    told += (told.empty() ? " among '" : ", '") + names[i] + "'";
  }
  return told + (names.size() > most ? ", ..." : "");
}

}  // namespace

std::array<std::vector<std::int64_t>, kClassifierTensors.size()> classifier_shapes(
    std::int64_t width, std::int64_t hidden) {
  return {{{hidden, width}, {hidden}, {hidden}, {hidden}, {hidden}, {hidden}, {2, hidden}, {2}}};
}

Classifier read_classifier(const std::string& path, const TaskContext& context) {
  const Checkpoint checkpoint = Checkpoint::open(path, context.inputs());
  const TensorPlace* const first = checkpoint.find(kClassifierTensors[0]);
  if (first == nullptr || first->shape.size() != 2 || first->shape[0] < 1 || first->shape[1] < 1) {
    throw FormatError(path, 0,
                      std::string("it has no classifier: the matrix '") + kClassifierTensors[0] +
                          "' is missing" + tensors_told(checkpoint));
  }
  checkpoint.refuse_others({kClassifierTensors.begin(), kClassifierTensors.end()},
                           {"bn1.num_batches_tracked"}, "a classifier of one hidden layer");
  Classifier classifier;
  classifier.hidden = first->shape[0];
  classifier.width = first->shape[1];
  const auto shapes = classifier_shapes(classifier.width, classifier.hidden);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    classifier.tensors[i] = checkpoint.read(kClassifierTensors[i], shapes[i], context);
  }
  const std::vector<float>& variances = classifier.tensors[5];
  if (*std::min_element(variances.begin(), variances.end()) < 0) {
    throw FormatError(path, 0, "its batch norm has a variance below 0");
  }
  const InputFile file(path, context.inputs());
  if (!is_zip(file)) classifier.classes = classes_of(safetensors_notes(file));
  checkpoint.check_content(context);
  return classifier;
}

void write_classifier(const Classifier& classifier, const std::string& path,
                      const TaskContext& context) {
  const auto shapes = classifier_shapes(classifier.width, classifier.hidden);
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    tensors.push_back({kClassifierTensors[i], shapes[i], classifier.tensors[i]});
  }
  write_safetensors(tensors, {{"class0", classifier.classes[0]}, {"class1", classifier.classes[1]}},
                    path, context);
}

std::vector<double> classify(const Classifier& classifier, const std::vector<float>& rows,
                             const ClassifierRun& run, JobControl& control) {
  std::vector<double> probabilities(rows.size() / static_cast<std::size_t>(classifier.width));
  run_tasks(control, run.threads, 1, [&](std::int64_t, const TaskContext& context) {
    ClassifierNetwork network = new_network(classifier.width, classifier.hidden, 0);
    set_tensors(classifier, network.layers);
    const Pass<float> pass = {products_of(run.simd), context};
    for_logits(network.layers, pass, rows, classifier.width,
               [&](std::int64_t first, const Batch<float>& logits) {
                 for (std::int64_t i = 0; i < logits.rows; ++i) {
                   const float* const row = logits.row(i);
                   const double odds =
                       std::exp(static_cast<double>(row[0]) - static_cast<double>(row[1]));
                   probabilities[static_cast<std::size_t>(first + i)] = 1 / (1 + odds);
                 }
               });
  });
  return probabilities;
}

TrainedClassifier train_classifier(std::int64_t width, const LabelledRows& training,
                                   const LabelledRows& held_out, const TrainingSettings& settings,
                                   const ClassifierRun& run, JobControl& control) {
  TrainedClassifier result;
  result.classifier.width = width;
  result.classifier.hidden = settings.hidden;
  control.expect(settings.most_epochs);
  run_tasks(control, run.threads, 1, [&](std::int64_t, const TaskContext& context) {
    Trainer trainer(width, settings, run.simd, context);
    trainer.initialise();
    Gatherer from(training.values, width);
    double rate = settings.rate;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < settings.most_epochs; ++i) {
      if (i > 0 && i % settings.rate_epochs == 0) rate *= settings.rate_factor;
      const double met = trainer.epoch(from, training.labels, static_cast<std::uint64_t>(i), rate);
      const double loss = trainer.loss(held_out);
      result.epochs.push_back({rate, met, loss});
      control.advance(1);
      if (loss < least) {
        least = loss;
        result.best = static_cast<std::size_t>(i);
        get_tensors(trainer.network(), result.classifier);
      }
      if (!std::isfinite(met) || !std::isfinite(loss) || !is_finite(result.classifier)) {
        throw InputError("training gives numbers that are not finite: scale the embeddings");
      }
      if (i - static_cast<std::int64_t>(result.best) >= settings.patience) break;
    }
  });
  return result;
}

std::vector<double> train_steps(Classifier& classifier, const LabelledRows& rows,
                                const std::vector<std::vector<std::int64_t>>& batches,
                                const TrainingSettings& settings, SimdLevel simd,
                                const TaskContext& context) {
  TrainingSettings own = settings;
  own.hidden = classifier.hidden;
  Trainer trainer(classifier.width, own, simd, context);
  set_tensors(classifier, trainer.network());
  Gatherer from(rows.values, classifier.width);
  std::vector<double> losses;
  losses.reserve(batches.size());
  for (const std::vector<std::int64_t>& batch : batches) {
    losses.push_back(trainer.step(from, rows.labels, batch.data(),
                                  static_cast<std::int64_t>(batch.size()), settings.rate));
  }
  get_tensors(trainer.network(), classifier);
  return losses;
}

}  // namespace ancify
