// Reads ESM-2 (Lin Z et al. 2023, Science 379: 1123-1130), whose tensors have the names of fair-esm
// or of Hugging Face.
#include "core/models/esm2.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/json.h"
#include "core/io/lines.h"

namespace ancify {

namespace {

std::vector<std::string> esm2_tokens() {
  std::vector<std::string> tokens = {"<cls>", "<pad>", "<eos>", "<unk>"};
  for (const char letter : std::string_view("LAGVSERTIDPKQNFYMHWCXBUZO.-")) {
    tokens.emplace_back(1, letter);
  }
  tokens.insert(tokens.end(), {"<null_1>", "<mask>"});
  return tokens;
}

}  // namespace

ProteinAlphabet::ProteinAlphabet() : ProteinAlphabet(esm2_tokens(), "") {}

ProteinAlphabet::ProteinAlphabet(std::vector<std::string> tokens, const std::string& file)
    : tokens_(std::move(tokens)), of_letter_(256, -1) {
  const auto number_of = [&](const std::string& token) {
    const auto found = std::find(tokens_.begin(), tokens_.end(), token);
    if (found == tokens_.end()) {
      throw FormatError(file, 0,
                        "the token " + token +
                            " is missing: it is no vocabulary of ESM-2, in which each residue is a "
                            "token");
    }
    return static_cast<std::int32_t>(found - tokens_.begin());
  };
  cls_ = number_of("<cls>");
  eos_ = number_of("<eos>");
  unknown_ = number_of("<unk>");
  mask_ = number_of("<mask>");
  for (const char residue : std::string_view("ACDEFGHIKLMNPQRSTVWY")) {
    number_of(std::string(1, residue));
  }
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (std::find(tokens_.begin(), tokens_.begin() + static_cast<long>(i), tokens_[i]) !=
        tokens_.begin() + static_cast<long>(i)) {
      throw FormatError(file, static_cast<std::int64_t>(i) + 1,
                        "the token " + tokens_[i] + " comes twice");
    }
    if (tokens_[i].size() == 1) {
      of_letter_[static_cast<unsigned char>(tokens_[i][0])] = static_cast<std::int32_t>(i);
    }
  }
}

namespace {

constexpr std::size_t kMostProteinTokens = 1000;

// Tokens of tokenizer.json, by index.
std::vector<std::string> json_tokens(const std::string& text, const std::string& path) {
  const Json json = parse_json(text, path);
  const auto fail = [&](const std::string& problem) { throw FormatError(path, 0, problem); };
  std::vector<std::string> tokens;
  const auto add = [&](const std::string& token, const Json* number) {
    const auto at = number == nullptr ? std::nullopt : number->whole();
    if (token.empty() || !at || *at >= static_cast<std::int64_t>(kMostProteinTokens)) {
      fail("the number of token '" + token + "' is none from 0 to 999");
    }
    const auto i = static_cast<std::size_t>(*at);
    if (i >= tokens.size()) tokens.resize(i + 1);
    // Added tokens may be in the vocabulary too.
    if (!tokens[i].empty() && tokens[i] != token) {
      fail("tokens '" + tokens[i] + "' and '" + token + "' have one number");
    }
    tokens[i] = token;
  };
  const Json* const model = json.member("model");
  const Json* const vocabulary = model == nullptr ? nullptr : model->member("vocab");
  if (vocabulary == nullptr || !vocabulary->is(Json::Kind::kObject)) {
    fail("its model has no 'vocab' that numbers tokens");
  }
  for (const auto& [token, number] : vocabulary->members) add(token, &number);
  if (const Json* const added = json.member("added_tokens")) {
    for (const Json& one : added->items) {
      const Json* const content = one.member("content");
      add(content == nullptr ? "" : content->text, one.member("id"));
    }
  }
  const auto none = std::find(tokens.begin(), tokens.end(), "");
  if (none != tokens.end()) {
    fail("no token has the number " + std::to_string(none - tokens.begin()));
  }
  return tokens;
}

}  // namespace

ProteinAlphabet ProteinAlphabet::read(const std::string& path) {
  const std::string text = read_text(path, kLongestModelText);
  if (const std::size_t first = text.find_first_not_of(" \t\r\n");
      first != text.npos && text[first] == '{') {
    return ProteinAlphabet(json_tokens(text, path), path);
  }
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size() && tokens.size() <= kMostProteinTokens;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::size_t last = end;
    while (last > at && (text[last - 1] == '\r' || text[last - 1] == ' ')) --last;
    if (last > at) tokens.push_back(text.substr(at, last - at));
    at = end + 1;
  }
  if (tokens.size() > kMostProteinTokens) {
    throw FormatError(path, 0, "it has more than 1000 tokens: it is no vocabulary of ESM-2");
  }
  return ProteinAlphabet(std::move(tokens), path);
}

std::vector<std::int32_t> ProteinAlphabet::encode(std::string_view sequence,
                                                  std::int64_t& unknown) const {
  constexpr std::string_view mask_text = "<mask>";
  std::vector<std::int32_t> tokens = {cls_};
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (sequence.substr(i, mask_text.size()) == mask_text) {
      tokens.push_back(mask_);
      i += mask_text.size() - 1;
      continue;
    }
    const char c = sequence[i];
    constexpr unsigned continuation = 2;  // the top bits of a letter's later bytes in UTF-8
    if (static_cast<unsigned char>(c) >> 6 == continuation) continue;
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const std::int32_t token = of_letter_[static_cast<unsigned char>(upper)];
    unknown += token < 0 ? 1 : 0;
    tokens.push_back(token < 0 ? unknown_ : token);
  }
  tokens.push_back(eos_);
  return tokens;
}

float embedding_scale(const std::vector<std::int32_t>& tokens, std::int32_t mask) {
  const auto masked = static_cast<double>(std::count(tokens.begin(), tokens.end(), mask));
  // A sequence has <cls> and <eos>, so some tokens are never masked.
  return static_cast<float>(0.88 / (1 - masked / static_cast<double>(tokens.size())));
}

namespace {

// The names of the tensors of a layer, after "<front><number>."
struct LayerNames {
  const char* front;
  const char* embedding;
  const char* attention_norm;
  std::array<const char*, 3> query_key_value;
  const char* attention_out;
  const char* feed_forward_norm;
  const char* up;
  const char* down;
  const char* frequencies;
  const char* head_weight;
};

constexpr LayerNames kNamings[] = {
    // Hugging Face
    {"layer.",
     "embeddings.word_embeddings.weight",
     "attention.LayerNorm",
     {"attention.self.query", "attention.self.key", "attention.self.value"},
     "attention.output.dense",
     "LayerNorm",
     "intermediate.dense",
     "output.dense",
     "attention.self.rotary_embeddings.inv_freq",
     "lm_head.decoder.weight"},
    // fair-esm
    {"layers.",
     "embed_tokens.weight",
     "self_attn_layer_norm",
     {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
     "self_attn.out_proj",
     "final_layer_norm",
     "fc1",
     "fc2",
     "self_attn.rot_emb.inv_freq",
     "lm_head.weight"}};

const LayerNames& naming_of(const Checkpoint& checkpoint) {
  for (const LayerNames& names : kNamings) {
    if (checkpoint.find(names.embedding) != nullptr) return names;
  }
  throw FormatError(checkpoint.path(), 0,
                    "it has neither the tensor 'embeddings.word_embeddings.weight' of Hugging Face "
                    "nor 'embed_tokens.weight' of fair-esm: it is no ESM-2");
}

// Layers are counted from 0 until one is missing.
std::int64_t count_layers(const Checkpoint& checkpoint, const LayerNames& names) {
  std::int64_t n = 0;
  while (checkpoint.find(names.front + std::to_string(n) + "." + names.query_key_value[0] +
                         ".weight") != nullptr) {
    ++n;
  }
  return n;
}

// The half-precision value nearest to x, for x from 6e-5 to 1.
float rounded_to_half(double x) {
  int exponent;
  const double fraction = std::frexp(x, &exponent);
  constexpr int bits = 11;
  return static_cast<float>(
      std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits));
}

// With the base of ESM-2, frequencies are rounded as in its published weights.
std::vector<float> frequencies_by_formula(std::int64_t head_width, double base) {
  std::vector<float> frequencies;
  for (std::int64_t j = 0; j < head_width / 2; ++j) {
    const double power = 2 * static_cast<double>(j) / static_cast<double>(head_width);
    const double frequency = std::pow(base, -power);
    frequencies.push_back(base == kRotationBase ? rounded_to_half(frequency)
                                                : static_cast<float>(frequency));
  }
  return frequencies;
}

// The tensors of frequencies in a file: one of each layer, or one of the model, or none.
std::vector<std::string> frequency_tensors(const Checkpoint& checkpoint, const LayerNames& names,
                                           std::int64_t layers) {
  const auto of_layer = [&](const std::string& layer) {
    return names.front + layer + "." + names.frequencies;
  };
  std::vector<std::string> found;
  for (const std::string& name : {std::string("rotary_embeddings.inv_freq"),
                                  std::string("rotary_emb.inv_freq"), of_layer("*")}) {
    if (checkpoint.find(name) != nullptr) found.push_back(name);
  }
  if (checkpoint.find(of_layer("0")) == nullptr) return found;
  for (std::int64_t i = 0; i < layers; ++i) found.push_back(of_layer(std::to_string(i)));
  return found;
}

// Learned positions, present but unused in Hugging Face's files of ESM-2, which rotates instead.
constexpr std::string_view kUnusedPositions = "embeddings.position_embeddings.weight";

// Positions are rotated if config.json says so. If it lacks the setting, the weights must have
// frequencies, which nothing else would use.
void check_positions(const Checkpoint& checkpoint, bool has_frequencies,
                     const std::optional<ModelConfig>& config) {
  if (config && config->has("position_embedding_type")) return;  // check_kind() has checked it
  if (has_frequencies) return;
  throw FormatError(checkpoint.path(), 0,
                    "nothing says that positions are rotated, as in ESM-2: there is no tensor "
                    "'...inv_freq', and config.json has no position_embedding_type");
}

void check_kind(const ModelConfig& config) {
  config.check_text("model_type", "esm", "ESM-2");
  config.check_text("position_embedding_type", "rotary", "ESM-2");
  config.check_text("hidden_act", "gelu", "ESM-2");
  if (config.flag("emb_layer_norm_before", false)) {
    config.fail("emb_layer_norm_before is true, as in ESM-1: only ESM-2 is read");
  }
  if (config.flag("is_decoder", false)) {
    config.fail(
        "is_decoder is true: residues would not see those after them, and only encoders are read");
  }
}

// A head with missing parts is recognised by its tensors.
bool has_language_head(const Checkpoint& checkpoint) {
  const std::vector<std::string> names = checkpoint.names();
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.compare(0, 8, "lm_head.") == 0; });
}

EncoderShape shape_of(const Checkpoint& checkpoint, const LayerNames& names,
                      const std::optional<ModelConfig>& config) {
  EncoderShape shape;
  const auto [vocabulary, width] = matrix_shape(checkpoint, names.embedding);
  shape.vocabulary = vocabulary;
  shape.width = width;
  shape.layers = count_layers(checkpoint, names);
  const std::string first = std::string(names.front) + "0.";
  const auto [hidden, up_width] = matrix_shape(checkpoint, first + names.up + ".weight");
  shape.hidden = hidden;
  const auto [queries, query_width] =
      matrix_shape(checkpoint, first + names.query_key_value[0] + ".weight");
  if (up_width != width || queries != width || query_width != width) {
    throw FormatError(checkpoint.path(), 0,
                      "the tensors of layer 0 are not made for a width of " +
                          std::to_string(width) + ", which the embedding has");
  }
  const auto frequencies = frequency_tensors(checkpoint, names, shape.layers);
  std::int64_t heads = 0;  // unknown
  if (config) heads = config->whole("num_attention_heads").value_or(0);
  if (!frequencies.empty()) {
    const std::vector<std::int64_t>& sizes = checkpoint.find(frequencies.front())->shape;
    if (sizes.size() == 1 && sizes[0] > 0) heads = width / (2 * sizes[0]);
  }
  if (heads == 0) {
    throw FormatError(checkpoint.path(), 0,
                      "the number of heads is unknown: the weights have no '" + first +
                          names.frequencies + "', and there is no config.json that tells it");
  }
  if (heads < 1 || width % heads != 0 || width / heads % 2 != 0) {
    throw FormatError(checkpoint.path(), 0,
                      "a width of " + std::to_string(width) + " cannot be " +
                          std::to_string(heads) + " heads of an even width");
  }
  shape.heads = heads;
  return shape;
}

std::int64_t count_parameters(const EncoderShape& shape, bool has_head) {
  const std::int64_t d = shape.width;
  const std::int64_t layer = 4 * d * d + 4 * d + 2 * d * shape.hidden + shape.hidden + d + 4 * d;
  const std::int64_t head = has_head ? d * d + 3 * d + shape.vocabulary : 0;
  return shape.vocabulary * d + shape.layers * layer + 2 * d + head;
}

}  // namespace

Esm2Files Esm2Files::open(const std::string& folder, const InputIdentities& inputs) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(folder)) {
    throw FileError(folder, "there is no such folder: a folder with the files of ESM-2 is needed");
  }
  Esm2Files files;
  ModelDescription& about = files.description_;
  std::vector<std::string_view> spare = spare_tensors();
  std::optional<ModelConfig> config;
  if (const std::string path = folder + "/config.json"; fs::exists(path)) {
    config.emplace(path);
    check_kind(*config);
    about.other_files.push_back(path);
    about.epsilon = config->epsilon(about.epsilon);
    about.token_dropout = config->flag("token_dropout", true);
    about.rotation_base = config->above_one("rope_theta", kRotationBase);
    if (config->has("position_embedding_type")) spare.push_back(kUnusedPositions);
  }
  files.checkpoint_ = open_weights(folder, inputs);
  const Checkpoint& checkpoint = files.checkpoint_;
  refuse_other_kinds(checkpoint, spare);
  bool has_tokens = false;
  for (const char* name : {"vocab.txt", "tokenizer.json"}) {
    const std::string path = folder + "/" + name;
    if (has_tokens || !fs::exists(path)) continue;
    files.alphabet_ = ProteinAlphabet::read(path);
    about.other_files.push_back(path);
    has_tokens = true;
  }
  const LayerNames& names = naming_of(checkpoint);
  about.shape = shape_of(checkpoint, names, config);
  const bool has_frequencies = !frequency_tensors(checkpoint, names, about.shape.layers).empty();
  check_positions(checkpoint, has_frequencies, config);
  about.weight_files = checkpoint.paths();
  about.has_head = has_language_head(checkpoint);
  about.frequencies_from_file = has_frequencies;
  about.parameters = count_parameters(about.shape, about.has_head);
  if (config) {
    check_shape(*config, about.shape);
    config->check_token("mask_token_id", files.alphabet_.mask());
  }
  check_vocabulary(checkpoint, about.shape, files.alphabet_.tokens().size());
  if (!has_tokens && about.shape.vocabulary != static_cast<std::int64_t>(esm2_tokens().size())) {
    throw FormatError(checkpoint.path(), 0,
                      "its embedding has " + std::to_string(about.shape.vocabulary) +
                          " rows, and ESM-2 has 33 tokens: put the model's vocab.txt beside it");
  }
  const WeightReader checks(checkpoint, nullptr);
  files.assemble(checks);
  checkpoint.refuse_others(checks.used(), spare, "ESM-2");
  return files;
}

namespace {

LayerTensors read_layer(const WeightReader& reader, const EncoderShape& shape,
                        const std::string& front, const LayerNames& names) {
  const std::int64_t width = shape.width;
  LayerTensors result;
  result.attention_norm = reader.norm(front + names.attention_norm, width);
  result.query_key_value.weight.reserve(static_cast<std::size_t>(3 * width * width));
  for (const char* name : names.query_key_value) {
    const LinearTensors one = reader.linear(front + name, width, width);
    auto& [weight, bias] = result.query_key_value;
    weight.insert(weight.end(), one.weight.begin(), one.weight.end());
    bias.insert(bias.end(), one.bias.begin(), one.bias.end());
  }
  result.attention_out = reader.linear(front + names.attention_out, width, width);
  result.feed_forward_norm = reader.norm(front + names.feed_forward_norm, width);
  result.up = reader.linear(front + names.up, shape.hidden, width);
  result.down = reader.linear(front + names.down, width, shape.hidden);
  return result;
}

}  // namespace

Encoder Esm2Files::assemble(const WeightReader& reader) const {
  const EncoderShape& shape = description_.shape;
  const LayerNames& names = naming_of(checkpoint_);
  Encoder encoder;
  encoder.shape = shape;
  encoder.epsilon = description_.epsilon;
  encoder.embedding = reader.tensor(names.embedding, {shape.vocabulary, shape.width});
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const std::string front = names.front + std::to_string(i) + ".";
    encoder.layers.push_back(read_layer(reader, shape, front, names));
  }
  for (const std::string& name : frequency_tensors(checkpoint_, names, shape.layers)) {
    std::vector<float> frequencies = reader.tensor(name, {shape.head_width() / 2});
    if (!encoder.inverse_frequencies.empty() && frequencies != encoder.inverse_frequencies) {
      throw FormatError(checkpoint_.path(), 0,
                        "tensor '" + name + "' differs from other frequencies of this model");
    }
    encoder.inverse_frequencies = std::move(frequencies);
  }
  if (!description_.frequencies_from_file) {
    encoder.inverse_frequencies =
        frequencies_by_formula(shape.head_width(), description_.rotation_base);
  }
  encoder.last_norm = reader.norm("emb_layer_norm_after", shape.width);
  if (description_.has_head) {
    encoder.head.dense = reader.linear("lm_head.dense", shape.width, shape.width);
    encoder.head.norm = reader.norm("lm_head.layer_norm", shape.width);
    encoder.head.out.bias = reader.tensor("lm_head.bias", {shape.vocabulary});
    if (checkpoint_.find(names.head_weight) != nullptr) {
      encoder.head.out.weight = reader.tensor(names.head_weight, {shape.vocabulary, shape.width});
    }
  }
  return encoder;
}

Encoder Esm2Files::read(const TaskContext& context) const {
  Encoder encoder = assemble(WeightReader(checkpoint_, &context));
  checkpoint_.check_content(context);
  return encoder;
}

}  // namespace ancify
