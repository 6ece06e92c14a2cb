// For n heads, a power of two, the slopes are 2^(-8 j / n), j = 1 to n. Other head counts have the
// slopes of the power of two below, then every second slope of the power above. Zhou Z et al.
// (2024) DNABERT-S, arXiv:2402.08777. Press O, Smith NA, Lewis M (2022) Train short, test long:
// attention with linear biases enables input length extrapolation. ICLR.
#include "core/models/dnabert.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/exec/errors.h"

namespace ancify {

namespace {

const std::string kWordRows = "embeddings.word_embeddings.weight";
const std::string kTypeRows = "embeddings.token_type_embeddings.weight";

std::string layer_name(std::int64_t layer) { return "layer." + std::to_string(layer) + "."; }

std::string queries_name(std::int64_t layer) { return layer_name(layer) + "attention.self.Wqkv"; }

EncoderShape shape_of(const Checkpoint& checkpoint, const ModelConfig& config) {
  EncoderShape shape;
  const auto [vocabulary, width] = matrix_shape(checkpoint, kWordRows);
  shape.vocabulary = vocabulary;
  shape.width = width;
  while (checkpoint.find(queries_name(shape.layers) + ".weight") != nullptr) ++shape.layers;
  shape.hidden = matrix_shape(checkpoint, layer_name(0) + "mlp.wo.weight")[1];
  const auto heads = config.whole("num_attention_heads");
  if (!heads) config.fail("num_attention_heads is missing");
  if (*heads < 1 || *heads > width || width % *heads != 0) {
    config.fail("a width of " + std::to_string(width) + " cannot be " + std::to_string(*heads) +
                " heads");
  }
  shape.heads = *heads;
  return shape;
}

std::int64_t count_parameters(const EncoderShape& shape) {
  const std::int64_t d = shape.width;
  const std::int64_t layer = 4 * d * d + 4 * d + 3 * d * shape.hidden + d + 4 * d;
  return shape.vocabulary * d + 2 * d + shape.layers * layer;
}

LayerTensors read_layer(const WeightReader& reader, const EncoderShape& shape, std::int64_t i) {
  const std::int64_t width = shape.width;
  const std::string front = layer_name(i);
  LayerTensors layer;
  layer.query_key_value = reader.linear(queries_name(i), 3 * width, width);
  layer.attention_out = reader.linear(front + "attention.output.dense", width, width);
  layer.attention_norm = reader.norm(front + "attention.output.LayerNorm", width);
  layer.up.weight = reader.tensor(front + "mlp.gated_layers.weight", {2 * shape.hidden, width});
  layer.down = reader.linear(front + "mlp.wo", width, shape.hidden);
  layer.feed_forward_norm = reader.norm(front + "mlp.layernorm", width);
  return layer;
}

// The word embeddings, plus the row of token type 0, which all tokens share.
std::vector<float> read_embedding(const Checkpoint& checkpoint, const WeightReader& reader,
                                  const EncoderShape& shape) {
  const std::int64_t types = matrix_shape(checkpoint, kTypeRows)[0];
  std::vector<float> embedding = reader.tensor(kWordRows, {shape.vocabulary, shape.width});
  const std::vector<float> type = reader.tensor(kTypeRows, {types, shape.width});
  const auto width = static_cast<std::size_t>(shape.width);
  for (std::size_t i = 0; i < embedding.size(); ++i) embedding[i] += type[i % width];
  return embedding;
}

// Checks that each base is a token, so that every sequence has tokens.
void check_bases(const std::vector<std::string>& tokens, const std::string& path) {
  for (const char* base : {"A", "C", "G", "T"}) {
    if (std::find(tokens.begin(), tokens.end(), base) == tokens.end()) {
      throw FormatError(
          path, 0,
          std::string("the base ") + base + " is no token: it is no vocabulary of DNABERT-S");
    }
  }
}

}  // namespace

std::vector<float> slopes_of(std::int64_t heads) {
  std::int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  const auto slope = [](std::int64_t j, std::int64_t n) {
    return static_cast<float>(std::exp2(-8 * static_cast<double>(j) / static_cast<double>(n)));
  };
  std::vector<float> slopes;
  for (std::int64_t j = 1; j <= power; ++j) slopes.push_back(slope(j, power));
  for (std::int64_t j = 1; power + (j + 1) / 2 <= heads; j += 2) {
    slopes.push_back(slope(j, 2 * power));
  }
  return slopes;
}

bool is_dnabert(const Checkpoint& checkpoint) {
  return checkpoint.find(queries_name(0) + ".weight") != nullptr;
}

DnabertFiles DnabertFiles::open(const std::string& folder, const InputIdentities& inputs) {
  const std::string settings = folder + "/config.json";
  const std::string tokens = folder + "/tokenizer.json";
  for (const std::string& path : {settings, tokens}) {
    if (!std::filesystem::exists(path)) {
      throw FileError(path, "there is no such file, which DNABERT-S has beside its weights");
    }
  }
  const ModelConfig config(settings);
  config.check_text("model_type", "bert", "DNABERT-S");
  config.check_text("hidden_act", "gelu", "DNABERT-S");
  DnabertFiles files(open_weights(folder, inputs), BpeTokeniser::read(tokens));
  refuse_other_kinds(files.checkpoint_, {});
  ModelDescription& about = files.description_;
  about.epsilon = config.epsilon(1e-12F);
  about.token_dropout = false;
  about.shape = shape_of(files.checkpoint_, config);
  about.parameters = count_parameters(about.shape);
  about.weight_files = files.checkpoint_.paths();
  about.other_files = {settings, tokens};
  check_shape(config, about.shape);
  config.check_whole("type_vocab_size", matrix_shape(files.checkpoint_, kTypeRows)[0]);
  check_vocabulary(files.checkpoint_, about.shape, files.tokeniser_.tokens().size());
  check_bases(files.tokeniser_.tokens(), tokens);
  const WeightReader checks(files.checkpoint_, nullptr);
  files.assemble(checks);
  files.checkpoint_.refuse_others(checks.used(), spare_tensors(), "DNABERT-S");
  return files;
}

Encoder DnabertFiles::assemble(const WeightReader& reader) const {
  Encoder encoder;
  encoder.shape = description_.shape;
  encoder.epsilon = description_.epsilon;
  encoder.norms = NormPlace::kAfter;
  encoder.gated = true;
  encoder.slopes = slopes_of(encoder.shape.heads);
  encoder.embedding = read_embedding(checkpoint_, reader, encoder.shape);
  encoder.embedding_norm = reader.norm("embeddings.LayerNorm", encoder.shape.width);
  for (std::int64_t i = 0; i < encoder.shape.layers; ++i) {
    encoder.layers.push_back(read_layer(reader, encoder.shape, i));
  }
  return encoder;
}

Encoder DnabertFiles::read(const TaskContext& context) const {
  Encoder encoder = assemble(WeightReader(checkpoint_, &context));
  checkpoint_.check_content(context);
  return encoder;
}

}  // namespace ancify
