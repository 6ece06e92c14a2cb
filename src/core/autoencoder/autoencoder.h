// Autoencoders of distance maps: files, codes, reconstruction, training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/autoencoder/forms.h"
#include "core/autoencoder/images.h"
#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/nn/device_network.h"

namespace ancify::autoencoder {

// Each map was divided by its own radius of gyration.
constexpr const char* kEachScale = "each";

struct Autoencoder {
  Form form;
  // The divisor of distances: about their mean.
  float unit = 1;
  // The divisor applied to the maps beforehand: a number, or kEachScale. Empty if unknown.
  std::string scale;
  // In the order of tensor_forms().
  std::vector<std::vector<float>> tensors;
};

// Reads a file of write_autoencoder(). FormatError if it holds no autoencoder, or a damaged one.
Autoencoder read_autoencoder(const std::string& path, const TaskContext& context);

// Writes a safetensors file, which appears whole or not at all.
void write_autoencoder(const Autoencoder& model, const std::string& path,
                       const TaskContext& context);

// Without a device, the CPU runs networks. It makes images in either case.
struct Run {
  int threads = 1;
  SimdLevel simd = SimdLevel::kScalar;
  NetworkKernels* device = nullptr;
  std::size_t memory_limit = 0;  // of the device, as in memory_budget()
};

// The codes of all cells, one after another.
std::vector<float> encode_maps(const Autoencoder& model, const Maps& maps, const Run& run,
                               JobControl& control);

// Reconstructs each map: pairs x cells, in the unit of the input.
void reconstruct_maps(const Autoencoder& model, const Maps& maps, double* out, const Run& run,
                      JobControl& control);

struct TrainingSettings {
  std::int64_t epochs = 50;
  std::int64_t batch = 64;
  std::int64_t patience = 5;  // epochs without gain
  double rate = 1e-3;
  double share = 0;     // of the points to corrupt
  double geometry = 0;  // weight of the geometry loss
  std::uint64_t seed = 1;
};

// Mean losses per pair, in squared units of the network: over training maps as seen in training,
// and over held-out maps.
struct Epoch {
  double training_loss;
  double held_out_loss;
};

struct Training {
  Autoencoder model;  // of the epoch with the smallest held-out loss
  std::size_t best = 0;
  std::vector<Epoch> epochs;
};

// Trains a network of this form and unit. `held_out`: cells for validation; all others are for
// training. A stop request ends training after a batch: `training` then holds the best epoch's
// weights, or the last batch's if no epoch has ended. InputError if values become non-finite.
//
// All three functions throw DeviceError if the run's device fails or has too little memory.
void train_autoencoder(const Form& form, float unit, const Maps& maps,
                       const std::vector<bool>& held_out, const TrainingSettings& settings,
                       const Run& run, JobControl& control, Training& training);

}  // namespace ancify::autoencoder
