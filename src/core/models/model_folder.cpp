// Reads the files common to all kinds of models, and compares settings with tensor shapes.
#include "core/models/model_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

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
  const std::string found = value->is(Json::Kind::kText) ? "'" + value->text + "'" : "no text";
  fail(std::string(name) + " is " + found + ", but " + model + " has '" + std::string(wanted) +
       "'");
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

void ModelConfig::check_token(const char* name, std::int64_t found) const {
  const std::optional<std::int64_t> said = whole(name);
  if (said && *said != found) {
    fail(std::string(name) + " is " + std::to_string(*said) + ", but the vocabulary has " +
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

double ModelConfig::above_one(const char* name, double if_missing) const {
  const Json* const value = json_.member(name);
  if (value == nullptr || value->is(Json::Kind::kNull)) return if_missing;
  if (!value->is(Json::Kind::kNumber) || !(value->number > 1 && std::isfinite(value->number))) {
    fail(std::string(name) + " is no number above 1");
  }
  return value->number;
}

bool ModelConfig::flag(const char* name, bool if_missing) const {
  const Json* const value = json_.member(name);
  if (value == nullptr || value->is(Json::Kind::kNull)) return if_missing;
  if (!value->is(Json::Kind::kBool)) fail(std::string(name) + " is neither true nor false");
  return value->flag;
}

bool ModelConfig::has(const char* name) const { return json_.member(name) != nullptr; }

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

namespace {

// Parts of bare names that occur only in other architectures.
constexpr std::pair<std::string_view, const char*> kOtherKinds[] = {
    {"embed_positions.", "has learned positions, as ESM-1b and ESM-1v do"},
    {"position_embeddings.", "has learned positions, as ESM-1b and ESM-1v do"},
    {"distance_embedding.", "has learned distances"},
    {"emb_layer_norm_before.", "has a norm before the first layer, as ESM-1b and ESM-1v do"},
    {"row_self_attention.", "attends to rows of alignments, as the MSA Transformer does"},
    {"crossattention.", "has cross-attention, as decoders do"},
    {"lora_", "is an adapter: merge it into the weights first"},
};

}  // namespace

void refuse_other_kinds(const Checkpoint& checkpoint, const std::vector<std::string_view>& spare) {
  for (const std::string& name : checkpoint.names()) {
    if (std::find(spare.begin(), spare.end(), name) != spare.end()) continue;
    for (const auto& [mark, kind] : kOtherKinds) {
      if (name.find(mark) == name.npos) continue;
      throw FormatError(checkpoint.path(), 0,
                        "tensor '" + name + "' " + kind + ": only ESM-2 and DNABERT-S are read");
    }
  }
}

std::vector<std::string_view> spare_tensors() {
  return {"pooler.",
          "contact_head.",
          "classifier.",
          "cls.",
          "lm_head.decoder.bias",
          "embeddings.position_ids",
          "embeddings.token_type_ids"};
}

std::vector<float> WeightReader::tensor(const std::string& name,
                                        const std::vector<std::int64_t>& shape) const {
  used_.insert(name);
  if (context_ != nullptr) return checkpoint_.read(name, shape, *context_);
  checkpoint_.check(name, shape);
  return {};
}

}  // namespace ancify
