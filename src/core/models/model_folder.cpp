// Reads what all kinds of models have in a folder, and compares settings with shapes of tensors.
#include "core/models/model_folder.h"

#include <algorithm>
#include <filesystem>

#include "core/exec/errors.h"
#include "core/io/lines.h"

namespace ancify {

namespace {

bool is_weight_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::string ending = path.extension().string();
  const bool is_contact_head = name.find("contact-regression") != std::string::npos;
  return !is_contact_head &&
         (ending == ".safetensors" || ending == ".pt" || ending == ".pth" || ending == ".bin");
}

}  // namespace

Checkpoint open_weights(const std::string& folder, const InputIdentities& inputs) {
  namespace fs = std::filesystem;
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const std::string path = folder + "/" + name;
    if (fs::exists(path + ".index.json")) {
      return Checkpoint::open_index(path + ".index.json", inputs);
    }
    if (fs::exists(path)) return Checkpoint::open(path, inputs);
  }
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_weight_file(entry.path())) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  if (found.empty()) {
    throw FileError(
        folder,
        "there are no weights here: put model.safetensors or pytorch_model.bin (or the "
        "index of one and its parts), or fair-esm's .pt there. Nothing is ever downloaded");
  }
  if (found.size() > 1) {
    throw FileError(folder, "there are several files of weights, such as '" + found[0] + "' and '" +
                                found[1] + "': leave one of them");
  }
  return Checkpoint::open(found[0], inputs);
}

ModelConfig::ModelConfig(const std::string& path)
    : path_(path), json_(parse_json(read_text(path, kLongestModelText), path)) {
  if (!json_.is(Json::Kind::kObject)) fail("it is no JSON object");
}

void ModelConfig::check_text(const char* name, std::string_view wanted, const char* model) const {
  const Json* const value = json_.member(name);
  if (value == nullptr || value->text == wanted) return;
  fail(std::string(name) + " is '" + value->text + "', and that of " + model + " is '" +
       std::string(wanted) + "'");
}

std::optional<std::int64_t> ModelConfig::whole(const char* name) const {
  const Json* const value = json_.member(name);
  if (value == nullptr || value->is(Json::Kind::kNull)) return std::nullopt;
  if (!value->whole()) fail(std::string(name) + " is no whole number");
  return value->whole();
}

void ModelConfig::check_whole(const char* name, std::int64_t found) const {
  const std::optional<std::int64_t> said = whole(name);
  if (said && *said != found) {
    fail(std::string(name) + " is " + std::to_string(*said) + ", but the weights have " +
         std::to_string(found));
  }
}

float ModelConfig::epsilon(float if_missing) const {
  const Json* const value = json_.member("layer_norm_eps");
  if (value == nullptr) return if_missing;
  if (!value->is(Json::Kind::kNumber) || !(value->number > 0 && value->number < 1)) {
    fail("layer_norm_eps is no number between 0 and 1");
  }
  return static_cast<float>(value->number);
}

bool ModelConfig::flag(const char* name, bool if_missing) const {
  const Json* const value = json_.member(name);
  return value == nullptr ? if_missing : value->flag;
}

void ModelConfig::fail(const std::string& problem) const { throw FormatError(path_, 0, problem); }

void check_shape(const ModelConfig& config, const EncoderShape& shape) {
  config.check_whole("num_hidden_layers", shape.layers);
  config.check_whole("hidden_size", shape.width);
  config.check_whole("num_attention_heads", shape.heads);
  config.check_whole("intermediate_size", shape.hidden);
  config.check_whole("vocab_size", shape.vocabulary);
}

void check_vocabulary(const Checkpoint& checkpoint, const EncoderShape& shape, std::size_t tokens) {
  if (static_cast<std::int64_t>(tokens) <= shape.vocabulary) return;
  throw FormatError(checkpoint.path(), 0,
                    "its embedding has " + std::to_string(shape.vocabulary) +
                        " rows, fewer than the vocabulary has tokens, " + std::to_string(tokens));
}

std::array<std::int64_t, 2> matrix_shape(const Checkpoint& checkpoint, const std::string& name) {
  const TensorPlace* const place = checkpoint.find(name);
  if (place == nullptr)
    throw FormatError(checkpoint.path(), 0, "there is no tensor '" + name + "'");
  if (place->shape.size() != 2 || place->shape[0] < 1 || place->shape[1] < 1) {
    throw FormatError(checkpoint.path(), 0,
                      "tensor '" + name + "' is " + shape_text(place->shape) + ", no matrix");
  }
  return {place->shape[0], place->shape[1]};
}

}  // namespace ancify
