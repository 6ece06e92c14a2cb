// Runs a network on batches, and lets it learn: on the CPU or on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/autoencoder/autoencoder.h"
#include "core/exec/threads.h"
#include "core/nn/losses.h"

namespace ancify::autoencoder {

// What is done with a batch: its codes, its maps, its loss; or its loss and a step of training.
enum class Work { kEncode, kReconstruct, kJudge, kLearn };

// A batch is filled in, begun and finished. Two may be on their way, in places 0 and 1, so that one
// is filled while another is computed. They take effect in the order in which they were begun.
class Engine {
 public:
  static constexpr int kPlaces = 2;

  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Where to write the inputs and targets of a batch, image by image (ImageMaker).
  struct Room {
    float* inputs;
    float* targets;
  };
  virtual Room room(int place) = 0;
  virtual void begin(int place, std::int64_t images, Work work) = 0;

  // Codes or images one after the other, until the next batch of the place; or the loss.
  struct Outcome {
    const float* numbers = nullptr;
    SquaredError error;
  };
  virtual Outcome finish(int place) = 0;

  // In the order of tensor_forms(). No batch may be on its way.
  virtual std::vector<std::vector<float>> weights() = 0;
};

// The place of a batch, by its number.
inline int place_of(std::int64_t batch) { return static_cast<int>(batch % Engine::kPlaces); }

struct EngineSettings {
  std::int64_t batch = 64;  // the most images
  bool learns = false;
  double rate = 1e-3;
  double geometry = 0;  // weight of the geometry loss
};

// DeviceError if the device fails, or has too little memory. InputError for the geometry loss
// there.
std::unique_ptr<Engine> make_host_engine(const Form& form,
                                         const std::vector<std::vector<float>>& tensors,
                                         const EngineSettings& settings, const Run& run,
                                         const TaskContext& context);
std::unique_ptr<Engine> make_device_engine(const Form& form,
                                           const std::vector<std::vector<float>>& tensors,
                                           const EngineSettings& settings, const Run& run,
                                           const TaskContext& context);

// On the run's device, or else on the CPU.
inline std::unique_ptr<Engine> make_engine(const Form& form,
                                           const std::vector<std::vector<float>>& tensors,
                                           const EngineSettings& settings, const Run& run,
                                           const TaskContext& context) {
  return (run.device == nullptr ? make_host_engine : make_device_engine)(form, tensors, settings,
                                                                         run, context);
}

}  // namespace ancify::autoencoder
