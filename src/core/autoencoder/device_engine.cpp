// Runs a network on a device, which keeps weights, gradients and Adam's moments. Each slot has its
// own stream, and its images are copied while the other slot computes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

#include "core/autoencoder/engine.h"
#include "core/autoencoder/network.h"
#include "core/exec/errors.h"
#include "core/nn/device_network.h"

namespace ancify::autoencoder {

namespace {

class DeviceEngine : public Engine {
 public:
  DeviceEngine(const Form& form, const std::vector<std::vector<float>>& tensors,
               const EngineSettings& settings, const Run& run, const TaskContext& context)
      : form_(form),
        settings_(settings),
        context_(context),
        device_(run.device->device()),
        workspace_(*run.device, run.memory_limit),
        network_(form) {
    drained_on_failure(device_, [&] {
      parameters_.emplace(workspace_, network_.parameters(), tensors, settings.learns);
    });
    const auto images = static_cast<std::size_t>(settings.batch);
    const auto pixels = static_cast<std::size_t>(form.size() * form.size());
    Taker& taker = workspace_.taker();
    for (Place& place : places_) {
      place.inputs.width = form.of_task().channels * form.size() * form.size();
      const std::size_t inputs = images * static_cast<std::size_t>(place.inputs.width);
      place.inputs.data = taker.take<float>(inputs);
      place.inputs_here = taker.take_here<float>(inputs);
      place.targets = taker.take_both<float>(settings.learns ? images * pixels : 0);
      place.sums = taker.take_both<double>(settings.learns ? images * kErrorLanes : 0);
      place.numbers = taker.take_here<float>(
          settings.learns ? 0 : images * std::max(pixels, static_cast<std::size_t>(form.code)));
    }
  }
  ~DeviceEngine() override { device_.drain(); }  // after a failure, queued work may use the memory

  Workspace workspace(int place) override {
    Place& to = places_.at(static_cast<std::size_t>(place));
    return {to.inputs_here.data(), to.targets.here.data()};
  }

  void begin(int place, std::int64_t images, Work work) override {
    Place& at = places_.at(static_cast<std::size_t>(place));
    at.inputs.rows = images;
    device_.upload(at.inputs.data.data(), at.inputs_here.data(), numbers_of(at.inputs), place);
    const bool judges = work == Work::kJudge || work == Work::kLearn;
    if (judges) {
      const std::int64_t pixels = form_.size() * form_.size();
      device_.upload(at.targets.there.data(), at.targets.here.data(),
                     static_cast<std::size_t>(images * pixels), place);
      at.known = known_of(at.targets.here.data(), images, pixels);
    }
    if (last_ != nullptr) device_.wait_for(*last_, place);
    const Pass<OnDevice> pass = {workspace_, place, work == Work::kLearn};
    const Batch<OnDevice>& out = work == Work::kEncode ? network_.encode(pass, at.inputs)
                                                       : network_.forward(pass, at.inputs);
    if (judges) {
      begin_loss(pass, out, at);
      if (pass.training) {
        network_.backward(pass, at.inputs, gradient_);
        parameters_->step(static_cast<float>(settings_.rate), place);
      }
    } else {
      device_.download(at.numbers.data(), out.data.data(), numbers_of(out), place);
    }
    last_ = device_.record(place);
  }

  Outcome finish(int place) override {
    const Place& at = places_.at(static_cast<std::size_t>(place));
    device_.wait(place);
    Outcome outcome = {at.numbers.data(), {0, at.known}};
    if (!settings_.learns) return outcome;
    for (std::int64_t i = 0; i < at.inputs.rows * kErrorLanes; ++i) {
      outcome.error.sum += at.sums.here.data()[i];
    }
    return outcome;
  }

  std::vector<std::vector<float>> weights() override { return parameters_->values(0); }

 private:
  struct Place {
    Batch<OnDevice> inputs;
    DeviceArray<float> inputs_here;
    Mirrored<float> targets;
    Mirrored<double> sums;
    DeviceArray<float> numbers;  // on the host
    std::int64_t known = 0;
  };

  static std::size_t numbers_of(const Batch<OnDevice>& batch) {
    return static_cast<std::size_t>(batch.rows * batch.width);
  }
  // The number of known values in all images.
  std::int64_t known_of(const float* targets, std::int64_t images, std::int64_t pixels) const {
    std::vector<std::int64_t> known(static_cast<std::size_t>(images));
    context_.share(images, [&](std::int64_t i) {
      const float* const image = targets + i * pixels;
      known[static_cast<std::size_t>(i)] =
          std::count_if(image, image + pixels, [](float number) { return !std::isnan(number); });
    });
    return std::accumulate(known.begin(), known.end(), std::int64_t{0});
  }

  void begin_loss(const Pass<OnDevice>& pass, const Batch<OnDevice>& out, Place& at) {
    if (pass.training) pass.resize(gradient_, out.rows, out.width);
    pass.run(SquaredErrorOp<float>{{out.rows, kErrorLanes},
                                   out.data.data(),
                                   at.targets.there.data(),
                                   out.width,
                                   at.known > 0 ? 2 / static_cast<double>(at.known) : 0,
                                   pass.training ? gradient_.data.data() : nullptr,
                                   at.sums.there.data()});
    device_.download(at.sums.here.data(), at.sums.there.data(),
                     static_cast<std::size_t>(out.rows * kErrorLanes), pass.stream);
  }

  Form form_;
  EngineSettings settings_;
  const TaskContext& context_;
  Device& device_;
  NetworkWorkspace workspace_;
  AutoencoderNetwork<OnDevice> network_;
  std::optional<DeviceParameters> parameters_;
  std::array<Place, kPlaces> places_;
  Batch<OnDevice> gradient_;
  std::unique_ptr<Event> last_;  // the end of the latest work
};

static_assert(Engine::kPlaces == Device::kStreams);

}  // namespace

std::unique_ptr<Engine> make_device_engine(const Form& form,
                                           const std::vector<std::vector<float>>& tensors,
                                           const EngineSettings& settings, const Run& run,
                                           const TaskContext& context) {
  if (settings.geometry > 0) {
    throw InputError(
        "the geometry loss is not computed on a GPU: leave `geometry` out, or use "
        "the CPU");
  }
  return std::make_unique<DeviceEngine>(form, tensors, settings, run, context);
}

}  // namespace ancify::autoencoder
