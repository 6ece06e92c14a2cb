// Training by Adam (Kingma and Ba 2015). Each epoch meets all maps in a new order, spoilt in a new
// way. Random numbers are blocks of Philox: a stream has the weights of a layer, the order of an
// epoch, or how maps are spoilt in an epoch. Maps held out are spoilt in one way throughout.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autoencoder/autoencoder.h"
#include "core/autoencoder/geometry.h"
#include "core/autoencoder/network.h"
#include "core/exec/errors.h"
#include "core/nn/layers.h"
#include "core/nn/losses.h"
#include "core/nn/optimisers.h"
#include "core/nn/random_numbers.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify::autoencoder {

namespace {

// Streams below are those of spoilt maps, by epoch.
constexpr std::uint64_t kHeldOutStream = std::uint64_t{1} << 61;
constexpr std::uint64_t kWeightStream = std::uint64_t{1} << 62;
constexpr std::uint64_t kOrderStream = std::uint64_t{1} << 63;

class Trainer {
 public:
  Trainer(const Form& form, float unit, const Maps& maps, const TrainingSettings& settings,
          SimdLevel simd, const JobControl& control, const TaskContext& context)
      : form_(form),
        settings_(settings),
        control_(control),
        context_(context),
        multiply_(layers_of(simd).multiply),
        maker_(maps, form, static_cast<double>(unit)),
        network_(form),
        adam_(network_.parameters()) {
    network_.initialise(settings.seed, kWeightStream);
  }

  AutoencoderNetwork<float>& network() { return network_; }
  bool stopped() const { return control_.stop_requested(); }

  // The mean loss of a pair before each step, or up to where it was stopped.
  double epoch(const std::vector<std::int64_t>& cells, std::uint64_t number) {
    const std::vector<std::int64_t> order = random_order(static_cast<std::int64_t>(cells.size()),
                                                         settings_.seed, kOrderStream + number);
    std::vector<std::int64_t> shuffled;
    shuffled.reserve(order.size());
    for (const std::int64_t place : order) {
      shuffled.push_back(cells[static_cast<std::size_t>(place)]);
    }
    return for_batches(shuffled, number, true);
  }

  double loss(const std::vector<std::int64_t>& cells) {
    return for_batches(cells, kHeldOutStream, false);
  }

 private:
  double for_batches(const std::vector<std::int64_t>& cells, std::uint64_t stream, bool training) {
    const auto n = static_cast<std::int64_t>(cells.size());
    double sum = 0;
    double known = 0;
    for (std::int64_t first = 0; first < n && !stopped(); first += settings_.batch) {
      gather(cells.data() + first, std::min(settings_.batch, n - first), stream);
      const SquaredError error = training ? step() : loss_of_batch(nullptr);
      sum += error.sum;
      known += static_cast<double>(error.known);
    }
    return known > 0 ? sum / known : 0;
  }

  void gather(const std::int64_t* cells, std::int64_t n, std::uint64_t stream) {
    const std::int64_t pixels = form_.size() * form_.size();
    inputs_.resize(n, form_.of_task().channels * pixels);
    targets_.resize(n, pixels);
    const Spoiling spoiling = {settings_.share, settings_.seed, stream};
    context_.share(n, [&](std::int64_t i) {
      maker_.make_spoilt(cells[i], spoiling, inputs_.row(i));
      maker_.make_target(cells[i], targets_.row(i));
    });
  }

  // With the geometry loss, `sum` has it too.
  SquaredError loss_of_batch(Batch<float>* gradient) {
    const Pass<float> pass = {multiply_, context_, gradient != nullptr};
    const Batch<float>& out = network_.forward(pass, inputs_);
    SquaredError error = masked_squared_error(out, targets_, gradient);
    if (settings_.geometry > 0) {
      // Images have each pair twice.
      error.sum += 2 * settings_.geometry *
                   add_geometry_error(form_.points, form_.size(), out, targets_, settings_.geometry,
                                      context_, gradient)
                       .sum;
    }
    return error;
  }

  SquaredError step() {
    const SquaredError error = loss_of_batch(&gradient_);
    network_.backward({multiply_, context_, true}, inputs_, gradient_);
    adam_.step(static_cast<float>(settings_.rate), context_);
    return error;
  }

  const Form& form_;
  const TrainingSettings& settings_;
  const JobControl& control_;
  const TaskContext& context_;
  void (*multiply_)(const MatrixProduct& product);
  ImageMaker maker_;
  AutoencoderNetwork<float> network_;
  Adam<float> adam_;
  Batch<float> inputs_;
  Batch<float> targets_;
  Batch<float> gradient_;
};

std::vector<std::vector<float>> weights_of(AutoencoderNetwork<float>& network) {
  std::vector<std::vector<float>> weights;
  for (const std::vector<float>* numbers : network.state()) weights.push_back(*numbers);
  return weights;
}

}  // namespace

void train_autoencoder(const Form& form, float unit, const Maps& maps,
                       const std::vector<bool>& held_out, const TrainingSettings& settings,
                       const Run& run, JobControl& control, Training& training) {
  std::vector<std::int64_t> met;
  std::vector<std::int64_t> judging;
  for (std::int64_t cell = 0; cell < maps.cells; ++cell) {
    (held_out[static_cast<std::size_t>(cell)] ? judging : met).push_back(cell);
  }
  training.model.form = form;
  training.model.unit = unit;
  control.expect(settings.epochs);
  run_tasks(control, run.threads, 1, [&](std::int64_t, const TaskContext& context) {
    Trainer trainer(form, unit, maps, settings, run.simd, control, context);
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < settings.epochs; ++i) {
      const double loss = trainer.epoch(met, static_cast<std::uint64_t>(i));
      const double judged = trainer.loss(judging);
      if (!std::isfinite(loss) || !std::isfinite(judged)) {
        throw InputError("training gives numbers that are not finite: look for extreme distances");
      }
      if (trainer.stopped()) {
        if (training.epochs.empty()) training.model.tensors = weights_of(trainer.network());
        break;
      }
      training.epochs.push_back({loss, judged});
      control.advance(1);
      if (judged < least) {
        least = judged;
        training.best = static_cast<std::size_t>(i);
        training.model.tensors = weights_of(trainer.network());
      }
      if (i - static_cast<std::int64_t>(training.best) >= settings.patience) break;
    }
  });
}

}  // namespace ancify::autoencoder
