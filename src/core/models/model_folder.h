// A model's folder: weights, settings, and the parts that all kinds of encoders read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "core/models/encoder.h"
#include "core/models/tensors.h"

namespace ancify {

// The largest size of a text file in a folder, in bytes.
constexpr std::size_t kLongestModelText = 1 << 20;

// Rotation frequencies of ESM-2 fall from 1 to nearly 1 / kRotationBase.
constexpr double kRotationBase = 10000;

// The description of a model in its files, before its weights are read.
struct ModelDescription {
  EncoderShape shape;
  float epsilon = 1e-5F;
  bool has_head = false;
  bool token_dropout = true;           // whether embedding_scale() applies
  bool frequencies_from_file = false;  // else by the formula
  double rotation_base = kRotationBase;
  std::int64_t parameters = 0;  // number of values in memory after reading
  std::vector<std::string> weight_files;
  std::vector<std::string> other_files;  // config.json, and the tokens
};

// The weights of a folder. FileError if no file or several files hold weights.
Checkpoint open_weights(const std::string& folder, const InputIdentities& inputs);

// The settings of config.json. All functions throw FormatError if a setting has the wrong type.
class ModelConfig {
 public:
  explicit ModelConfig(const std::string& path);

  // FormatError if the setting is present, but is another text. `model` is for the message.
  void check_text(const char* name, std::string_view wanted, const char* model) const;
  std::optional<std::int64_t> whole(const char* name) const;
  // FormatError if the setting is present, but differs from the weights.
  void check_whole(const char* name, std::int64_t found) const;
  // FormatError if the setting is present, but differs from the token's index in the vocabulary.
  void check_token(const char* name, std::int64_t found) const;
  // layer_norm_eps, between 0 and 1.
  float epsilon(float if_missing) const;
  // A number above 1. `if_missing` also stands for null, here and below.
  double above_one(const char* name, double if_missing) const;
  bool flag(const char* name, bool if_missing) const;
  bool has(const char* name) const;
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  std::string path_;
  Json json_;
};

// Compares the sizes in config.json with the weights' sizes.
void check_shape(const ModelConfig& config, const EncoderShape& shape);

// FormatError if the embedding has fewer rows than tokens exist.
void check_vocabulary(const Checkpoint& checkpoint, const EncoderShape& shape, std::size_t tokens);

// Two sizes. FormatError if the tensor is missing, or is not a matrix.
std::array<std::int64_t, 2> matrix_shape(const Checkpoint& checkpoint, const std::string& name);

// Refuses weights of an unsupported kind, recognised by tensor names: learned positions, or
// adapters. Tensors of `spare` are allowed.
void refuse_other_kinds(const Checkpoint& checkpoint, const std::vector<std::string_view>& spare);

// Tensors allowed besides an encoder's own: layers trained on top of it, and values that follow
// from its settings.
std::vector<std::string_view> spare_tensors();

// Reads tensors by name, and remembers the names. FormatError if a tensor is missing, or has
// another shape. Without a context the tensors are only checked: all are empty.
class WeightReader {
 public:
  WeightReader(const Checkpoint& checkpoint, const TaskContext* context)
      : checkpoint_(checkpoint), context_(context) {}

  std::vector<float> tensor(const std::string& name, const std::vector<std::int64_t>& shape) const;
  const std::set<std::string>& used() const { return used_; }
  NormTensors norm(const std::string& name, std::int64_t width) const {
    return {tensor(name + ".weight", {width}), tensor(name + ".bias", {width})};
  }
  LinearTensors linear(const std::string& name, std::int64_t out, std::int64_t in) const {
    return {tensor(name + ".weight", {out, in}), tensor(name + ".bias", {out})};
  }

 private:
  const Checkpoint& checkpoint_;
  const TaskContext* context_;
  mutable std::set<std::string> used_;
};

}  // namespace ancify
