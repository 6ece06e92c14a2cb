// Training by Adam (Kingma and Ba 2015). Each epoch visits all maps in a new order, with new
// corruption. Random numbers are blocks of Philox: a stream serves the weights of a layer, or the
// order or corruption of an epoch. Held-out maps keep one corruption throughout.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autoencoder/engine.h"
#include "core/autoencoder/network.h"
#include "core/exec/errors.h"
#include "core/nn/random_numbers.h"

namespace ancify::autoencoder {

namespace {

// Lower streams are for the corruption of maps, by epoch.
constexpr std::uint64_t kHeldOutStream = std::uint64_t{1} << 61;
constexpr std::uint64_t kWeightStream = std::uint64_t{1} << 62;
constexpr std::uint64_t kOrderStream = std::uint64_t{1} << 63;

std::vector<std::vector<float>> first_weights(const Form& form, std::uint64_t seed) {
  AutoencoderNetwork<float> network(form);
  network.initialise(seed, kWeightStream);
  std::vector<std::vector<float>> weights;
  for (const std::vector<float>* numbers : network.state()) weights.push_back(*numbers);
  return weights;
}

class Trainer {
 public:
  Trainer(const Form& form, float unit, const Maps& maps, const TrainingSettings& settings,
          const Run& run, const JobControl& control, const TaskContext& context)
      : form_(form),
        settings_(settings),
        control_(control),
        context_(context),
        maker_(maps, form, static_cast<double>(unit)),
        engine_(make_engine(form, first_weights(form, settings.seed),
                            {settings.batch, true, settings.rate, settings.geometry}, run,
                            context)) {}

  std::vector<std::vector<float>> weights() { return engine_->weights(); }
  bool stopped() const { return control_.stop_requested(); }

  // The mean loss per pair before each step, up to a stop.
  double epoch(const std::vector<std::int64_t>& cells, std::uint64_t number) {
    const std::vector<std::int64_t> order = random_order(static_cast<std::int64_t>(cells.size()),
                                                         settings_.seed, kOrderStream + number);
    std::vector<std::int64_t> shuffled;
    shuffled.reserve(order.size());
    for (const std::int64_t place : order) {
      shuffled.push_back(cells[static_cast<std::size_t>(place)]);
    }
    return for_batches(shuffled, number, Work::kLearn);
  }

  double loss(const std::vector<std::int64_t>& cells) {
    return for_batches(cells, kHeldOutStream, Work::kJudge);
  }

 private:
  double for_batches(const std::vector<std::int64_t>& cells, std::uint64_t stream, Work work) {
    const auto n = static_cast<std::int64_t>(cells.size());
    double sum = 0;
    double known = 0;
    const auto finish = [&](std::int64_t batch) {
      const SquaredError error = engine_->finish(place_of(batch)).error;
      sum += error.sum;
      known += static_cast<double>(error.known);
    };
    std::int64_t begun = 0;
    for (std::int64_t first = 0; first < n && !stopped(); first += settings_.batch) {
      const std::int64_t images = std::min(settings_.batch, n - first);
      gather(cells.data() + first, images, stream, engine_->workspace(place_of(begun)));
      engine_->begin(place_of(begun), images, work);
      if (begun > 0) finish(begun - 1);
      ++begun;
    }
    if (begun > 0) finish(begun - 1);
    return known > 0 ? sum / known : 0;
  }

  void gather(const std::int64_t* cells, std::int64_t n, std::uint64_t stream,
              const Engine::Workspace& workspace) {
    const std::int64_t pixels = form_.size() * form_.size();
    const Corruption corruption = {settings_.share, settings_.seed, stream};
    context_.share(n, [&](std::int64_t i) {
      maker_.make_corrupted(cells[i], corruption,
                            workspace.inputs + i * form_.of_task().channels * pixels);
      maker_.make_target(cells[i], workspace.targets + i * pixels);
    });
  }

  const Form& form_;
  const TrainingSettings& settings_;
  const JobControl& control_;
  const TaskContext& context_;
  ImageMaker maker_;
  std::unique_ptr<Engine> engine_;
};

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
    Trainer trainer(form, unit, maps, settings, run, control, context);
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < settings.epochs; ++i) {
      const double loss = trainer.epoch(met, static_cast<std::uint64_t>(i));
      const double judged = trainer.loss(judging);
      if (!std::isfinite(loss) || !std::isfinite(judged)) {
        throw InputError("training gives numbers that are not finite: look for extreme distances");
      }
      if (trainer.stopped()) {
        if (training.epochs.empty()) training.model.tensors = trainer.weights();
        break;
      }
      training.epochs.push_back({loss, judged});
      control.advance(1);
      if (judged < least) {
        least = judged;
        training.best = static_cast<std::size_t>(i);
        training.model.tensors = trainer.weights();
      }
      if (i - static_cast<std::int64_t>(training.best) >= settings.patience) break;
    }
  });
}

}  // namespace ancify::autoencoder
