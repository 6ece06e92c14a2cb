// Runs a network on the CPU.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "core/autoencoder/engine.h"
#include "core/autoencoder/geometry.h"
#include "core/autoencoder/network.h"
#include "core/nn/layers.h"
#include "core/nn/optimisers.h"

namespace ancify::autoencoder {

namespace {

class HostEngine : public Engine {
 public:
  HostEngine(const Form& form, const std::vector<std::vector<float>>& tensors,
             const EngineSettings& settings, SimdLevel simd, const TaskContext& context)
      : form_(form),
        settings_(settings),
        products_(products_of(simd)),
        context_(context),
        network_(form) {
    if (settings.learns) adam_.emplace(network_.parameters());
    const auto state = network_.state();
    for (std::size_t i = 0; i < state.size(); ++i) *state[i] = tensors[i];
  }

  Workspace workspace(int place) override {
    Place& to = places_.at(static_cast<std::size_t>(place));
    const std::int64_t pixels = form_.size() * form_.size();
    to.inputs.resize(settings_.batch, form_.of_task().channels * pixels);
    to.targets.resize(settings_.batch, pixels);
    return {to.inputs.data.data(), to.targets.data.data()};
  }

  void begin(int place, std::int64_t images, Work work) override {
    Place& at = places_.at(static_cast<std::size_t>(place));
    at.inputs.resize(images, at.inputs.width);
    at.targets.resize(images, at.targets.width);
    const Pass<float> pass = {products_, context_, work == Work::kLearn};
    const Batch<float>& out = work == Work::kEncode ? network_.encode(pass, at.inputs)
                                                    : network_.forward(pass, at.inputs);
    if (work == Work::kEncode || work == Work::kReconstruct) {
      at.numbers = out.data;
      return;
    }
    Batch<float>* const gradient = work == Work::kLearn ? &gradient_ : nullptr;
    at.error = loss(out, at.targets, gradient);
    if (gradient == nullptr) return;
    network_.backward(pass, at.inputs, *gradient);
    adam_->step(static_cast<float>(settings_.rate), context_);
  }

  Outcome finish(int place) override {
    const Place& at = places_.at(static_cast<std::size_t>(place));
    return {at.numbers.data(), at.error};
  }

  std::vector<std::vector<float>> weights() override {
    std::vector<std::vector<float>> weights;
    for (const std::vector<float>* numbers : network_.state()) weights.push_back(*numbers);
    return weights;
  }

 private:
  struct Place {
    Batch<float> inputs;
    Batch<float> targets;
    std::vector<float> numbers;
    SquaredError error;
  };

  // With the geometry loss, `sum` includes it.
  SquaredError loss(const Batch<float>& out, const Batch<float>& targets, Batch<float>* gradient) {
    SquaredError error = masked_squared_error(out, targets, gradient);
    if (settings_.geometry > 0) {
      // Images contain each pair twice.
      error.sum += 2 * settings_.geometry *
                   add_geometry_error(form_.points, form_.size(), out, targets, settings_.geometry,
                                      context_, gradient)
                       .sum;
    }
    return error;
  }

  Form form_;
  EngineSettings settings_;
  ProductsOf<float> products_;
  const TaskContext& context_;
  AutoencoderNetwork<float> network_;
  std::optional<Adam<float>> adam_;  // only for training
  std::array<Place, kPlaces> places_;
  Batch<float> gradient_;
};

}  // namespace

std::unique_ptr<Engine> make_host_engine(const Form& form,
                                         const std::vector<std::vector<float>>& tensors,
                                         const EngineSettings& settings, const Run& run,
                                         const TaskContext& context) {
  return std::make_unique<HostEngine>(form, tensors, settings, run.simd, context);
}

}  // namespace ancify::autoencoder
