// A model's folder: weights, settings, and what all kinds of encoders read of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/encoder.h"
#include "core/models/json.h"
#include "core/models/tensors.h"

namespace ancify {

// Bytes of the longest text that a folder may have.
constexpr std::size_t kLongestModelText = 1 << 20;

// What files say of a model, before its weights are read.
struct ModelDescription {
  EncoderShape shape;
  float epsilon = 1e-5F;
  bool has_head = false;
  bool token_dropout = true;           // whether embeddings are scaled by 0.88
  bool frequencies_from_file = false;  // else by the formula, rounded to FP16
  std::int64_t parameters = 0;         // numbers that will be in memory
  std::vector<std::string> weight_files;
  std::vector<std::string> other_files;  // config.json, and the tokens
};

// The weights of a folder. FileError if there are none, or several files of them.
Checkpoint open_weights(const std::string& folder, const InputIdentities& inputs);

// The settings of config.json. All functions throw FormatError if a setting is of another kind.
class ModelConfig {
 public:
  explicit ModelConfig(const std::string& path);

  // FormatError if the setting is there, and is another text. `model` is for the message.
  void check_text(const char* name, std::string_view wanted, const char* model) const;
  std::optional<std::int64_t> whole(const char* name) const;
  // FormatError if the setting is there, and is another number than what the weights have.
  void check_whole(const char* name, std::int64_t found) const;
  // layer_norm_eps, between 0 and 1.
  float epsilon(float if_missing) const;
  bool flag(const char* name, bool if_missing) const;
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  std::string path_;
  Json json_;
};

// Compares the sizes in config.json with those of the weights.
void check_shape(const ModelConfig& config, const EncoderShape& shape);

// FormatError if the embedding has fewer rows than there are tokens.
void check_vocabulary(const Checkpoint& checkpoint, const EncoderShape& shape, std::size_t tokens);

// Two sizes. FormatError if the tensor is missing, or no matrix.
std::array<std::int64_t, 2> matrix_shape(const Checkpoint& checkpoint, const std::string& name);

// Reads tensors by name. FormatError if one is missing, or has another shape.
class WeightReader {
 public:
  WeightReader(const Checkpoint& checkpoint, const TaskContext& context)
      : checkpoint_(checkpoint), context_(context) {}

  std::vector<float> tensor(const std::string& name, const std::vector<std::int64_t>& shape) const {
    return checkpoint_.read(name, shape, context_);
  }
  NormTensors norm(const std::string& name, std::int64_t width) const {
    return {tensor(name + ".weight", {width}), tensor(name + ".bias", {width})};
  }
  LinearTensors linear(const std::string& name, std::int64_t out, std::int64_t in) const {
    return {tensor(name + ".weight", {out, in}), tensor(name + ".bias", {out})};
  }

 private:
  const Checkpoint& checkpoint_;
  const TaskContext& context_;
};

}  // namespace ancify
