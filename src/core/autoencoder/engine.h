// Runs and trains a network on batches, on the CPU or on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/autoencoder/autoencoder.h"
#include "core/exec/threads.h"
#include "core/nn/losses.h"

namespace ancify::autoencoder {

// The result wanted from a batch: its codes, its maps, its loss, or its loss and a training step.
enum class Work { kEncode, kReconstruct, kJudge, kLearn };

// A batch is filled in, begun and finished. Two may be in flight, in slots 0 and 1, so that one is
// filled while the other is computed. They take effect in the order of their start.
class Engine {
 public:
  static constexpr int kPlaces = 2;

  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The destination of a batch's inputs and targets, image by image (ImageMaker).
  struct Workspace {
    float* inputs;
    float* targets;
  };
  virtual Workspace workspace(int place) = 0;
  virtual void begin(int place, std::int64_t images, Work work) = 0;

  // Consecutive codes or images, valid until the slot's next batch; or the loss.
  struct Outcome {
    const float* numbers = nullptr;
    SquaredError error;
  };
  virtual Outcome finish(int place) = 0;

  // In the order of tensor_forms(). No batch may be in flight.
  virtual std::vector<std::vector<float>> weights() = 0;
};

// The slot of a batch, by its index.
inline int place_of(std::int64_t batch) { return static_cast<int>(batch % Engine::kPlaces); }

struct EngineSettings {
  std::int64_t batch = 64;  // the most images
  bool learns = false;
  double rate = 1e-3;
  double geometry = 0;  // weight of the geometry loss
};

// DeviceError if the device fails, or has too little memory. InputError for the geometry loss on a
// device.
std::unique_ptr<Engine> make_host_engine(const Form& form,
                                         const std::vector<std::vector<float>>& tensors,
                                         const EngineSettings& settings, const Run& run,
                                         const TaskContext& context);
std::unique_ptr<Engine> make_device_engine(const Form& form,
                                           const std::vector<std::vector<float>>& tensors,
                                           const EngineSettings& settings, const Run& run,
                                           const TaskContext& context);

// Uses the run's device, or else the CPU.
inline std::unique_ptr<Engine> make_engine(const Form& form,
                                           const std::vector<std::vector<float>>& tensors,
                                           const EngineSettings& settings, const Run& run,
                                           const TaskContext& context) {
  return (run.device == nullptr ? make_host_engine : make_device_engine)(form, tensors, settings,
                                                                         run, context);
}

}  // namespace ancify::autoencoder
