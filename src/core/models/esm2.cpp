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
#include "core/io/lines.h"
#include "core/models/json.h"

namespace ancify {

namespace {

constexpr std::size_t kLongestText = 1 << 20;

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
                        "the token " + token + " is missing: it is no vocabulary of ESM-2");
    }
    return static_cast<std::int32_t>(found - tokens_.begin());
  };
  cls_ = number_of("<cls>");
  eos_ = number_of("<eos>");
  unknown_ = number_of("<unk>");
  mask_ = number_of("<mask>");
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

ProteinAlphabet ProteinAlphabet::read(const std::string& path) {
  constexpr std::size_t most_tokens = 1000;
  const std::string text = read_text(path, kLongestText);
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size() && tokens.size() <= most_tokens;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::size_t last = end;
    while (last > at && (text[last - 1] == '\r' || text[last - 1] == ' ')) --last;
    if (last > at) tokens.push_back(text.substr(at, last - at));
    at = end + 1;
  }
  if (tokens.size() > most_tokens) {
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
  // A sequence has <cls> and <eos>, so that some tokens are never masked.
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

// Two sizes. FormatError if the tensor is missing, or no matrix.
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

// Layers are counted from 0 until one is missing.
std::int64_t count_layers(const Checkpoint& checkpoint, const LayerNames& names) {
  std::int64_t n = 0;
  while (checkpoint.find(names.front + std::to_string(n) + "." + names.query_key_value[0] +
                         ".weight") != nullptr) {
    ++n;
  }
  return n;
}

// A float of half precision nearest to x, which is from 6e-5 to 1.
float rounded_to_half(double x) {
  int exponent;
  const double fraction = std::frexp(x, &exponent);
  constexpr int bits = 11;
  return static_cast<float>(
      std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits));
}

std::vector<float> frequencies_by_formula(std::int64_t head_width) {
  std::vector<float> frequencies;
  for (std::int64_t j = 0; j < head_width / 2; ++j) {
    const double power = 2 * static_cast<double>(j) / static_cast<double>(head_width);
    frequencies.push_back(rounded_to_half(std::pow(10000, -power)));
  }
  return frequencies;
}

// Settings of config.json that must be those of ESM-2, or agree with the tensors.
class Config {
 public:
  explicit Config(const std::string& path)
      : path_(path), json_(parse_json(read_text(path, kLongestText), path)) {
    if (!json_.is(Json::Kind::kObject)) fail("it is no JSON object");
  }

  void check_kind() const {
    const auto check = [&](const char* name, std::string_view wanted) {
      const Json* const value = json_.member(name);
      if (value != nullptr && value->text != wanted) {
        fail(std::string(name) + " is '" + value->text + "', and that of ESM-2 is '" +
             std::string(wanted) + "'");
      }
    };
    check("model_type", "esm");
    check("position_embedding_type", "rotary");
    check("hidden_act", "gelu");
    const Json* const first_norm = json_.member("emb_layer_norm_before");
    if (first_norm != nullptr && first_norm->flag) {
      fail("emb_layer_norm_before is true, as in ESM-1: only ESM-2 is read");
    }
  }
  std::optional<std::int64_t> whole(const char* name) const {
    const Json* const value = json_.member(name);
    if (value == nullptr || value->is(Json::Kind::kNull)) return std::nullopt;
    if (!value->whole()) fail(std::string(name) + " is no whole number");
    return value->whole();
  }
  void check_whole(const char* name, std::int64_t found) const {
    const std::optional<std::int64_t> said = whole(name);
    if (said && *said != found) {
      fail(std::string(name) + " is " + std::to_string(*said) + ", but the weights have " +
           std::to_string(found));
    }
  }
  float epsilon() const {
    const Json* const value = json_.member("layer_norm_eps");
    if (value == nullptr) return 1e-5F;
    if (!value->is(Json::Kind::kNumber) || !(value->number > 0 && value->number < 1)) {
      fail("layer_norm_eps is no number between 0 and 1");
    }
    return static_cast<float>(value->number);
  }
  bool token_dropout() const {
    const Json* const value = json_.member("token_dropout");
    return value == nullptr || value->flag;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw FormatError(path_, 0, problem); }

  std::string path_;
  Json json_;
};

bool is_weight_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::string ending = path.extension().string();
  const bool is_contact_head = name.find("contact-regression") != std::string::npos;
  return !is_contact_head &&
         (ending == ".safetensors" || ending == ".pt" || ending == ".pth" || ending == ".bin");
}

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

EncoderShape shape_of(const Checkpoint& checkpoint, const LayerNames& names,
                      const std::optional<Config>& config) {
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
  const TensorPlace* const frequencies = checkpoint.find(first + names.frequencies);
  std::int64_t heads = 0;  // unknown
  if (config) heads = config->whole("num_attention_heads").value_or(0);
  if (frequencies != nullptr && frequencies->shape.size() == 1 && frequencies->shape[0] > 0) {
    heads = width / (2 * frequencies->shape[0]);
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
  Esm2Description& about = files.description_;
  std::optional<Config> config;
  if (const std::string path = folder + "/config.json"; fs::exists(path)) {
    config.emplace(path);
    config->check_kind();
    about.other_files.push_back(path);
    about.epsilon = config->epsilon();
    about.token_dropout = config->token_dropout();
  }
  if (const std::string path = folder + "/vocab.txt"; fs::exists(path)) {
    files.alphabet_ = ProteinAlphabet::read(path);
    about.other_files.push_back(path);
  }
  files.checkpoint_ = open_weights(folder, inputs);
  const Checkpoint& checkpoint = files.checkpoint_;
  const LayerNames& names = naming_of(checkpoint);
  about.shape = shape_of(checkpoint, names, config);
  about.weight_files = checkpoint.paths();
  about.has_head = checkpoint.find("lm_head.dense.weight") != nullptr;
  about.frequencies_from_file =
      checkpoint.find(std::string(names.front) + "0." + names.frequencies) != nullptr;
  about.parameters = count_parameters(about.shape, about.has_head);
  if (config) {
    config->check_whole("num_hidden_layers", about.shape.layers);
    config->check_whole("hidden_size", about.shape.width);
    config->check_whole("num_attention_heads", about.shape.heads);
    config->check_whole("intermediate_size", about.shape.hidden);
    config->check_whole("vocab_size", about.shape.vocabulary);
  }
  if (static_cast<std::int64_t>(files.alphabet_.tokens().size()) > about.shape.vocabulary) {
    throw FormatError(checkpoint.path(), 0,
                      "its embedding has " + std::to_string(about.shape.vocabulary) +
                          " rows, fewer than the vocabulary has tokens, " +
                          std::to_string(files.alphabet_.tokens().size()));
  }
  return files;
}

namespace {

// Reads tensors by name; all have been looked for when the last is read.
class WeightReader {
 public:
  WeightReader(const Checkpoint& checkpoint, const EncoderShape& shape, const TaskContext& context)
      : checkpoint_(checkpoint), shape_(shape), context_(context) {}

  std::vector<float> tensor(const std::string& name, const std::vector<std::int64_t>& shape) const {
    return checkpoint_.read(name, shape, context_);
  }
  NormTensors norm(const std::string& name) const {
    return {tensor(name + ".weight", {shape_.width}), tensor(name + ".bias", {shape_.width})};
  }
  LinearTensors linear(const std::string& name, std::int64_t out, std::int64_t in) const {
    return {tensor(name + ".weight", {out, in}), tensor(name + ".bias", {out})};
  }
  LayerTensors layer(const std::string& front, const LayerNames& names) const {
    const std::int64_t width = shape_.width;
    LayerTensors result;
    result.attention_norm = norm(front + names.attention_norm);
    result.query_key_value.weight.reserve(static_cast<std::size_t>(3 * width * width));
    for (const char* name : names.query_key_value) {
      const LinearTensors one = linear(front + name, width, width);
      auto& [weight, bias] = result.query_key_value;
      weight.insert(weight.end(), one.weight.begin(), one.weight.end());
      bias.insert(bias.end(), one.bias.begin(), one.bias.end());
    }
    result.attention_out = linear(front + names.attention_out, width, width);
    result.feed_forward_norm = norm(front + names.feed_forward_norm);
    result.up = linear(front + names.up, shape_.hidden, width);
    result.down = linear(front + names.down, width, shape_.hidden);
    return result;
  }

 private:
  const Checkpoint& checkpoint_;
  const EncoderShape& shape_;
  const TaskContext& context_;
};

}  // namespace

Encoder Esm2Files::read(const TaskContext& context) const {
  const EncoderShape& shape = description_.shape;
  const LayerNames& names = naming_of(checkpoint_);
  const WeightReader reader(checkpoint_, shape, context);
  Encoder encoder;
  encoder.shape = shape;
  encoder.epsilon = description_.epsilon;
  encoder.embedding = reader.tensor(names.embedding, {shape.vocabulary, shape.width});
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const std::string front = names.front + std::to_string(i) + ".";
    encoder.layers.push_back(reader.layer(front, names));
    if (!description_.frequencies_from_file) continue;
    std::vector<float> frequencies =
        reader.tensor(front + names.frequencies, {shape.head_width() / 2});
    if (i > 0 && frequencies != encoder.inverse_frequencies) {
      throw FormatError(checkpoint_.path(), 0,
                        "tensor '" + front + names.frequencies + "' differs from that of layer 0");
    }
    encoder.inverse_frequencies = std::move(frequencies);
  }
  if (!description_.frequencies_from_file) {
    encoder.inverse_frequencies = frequencies_by_formula(shape.head_width());
  }
  encoder.last_norm = reader.norm("emb_layer_norm_after");
  if (description_.has_head) {
    encoder.head.dense = reader.linear("lm_head.dense", shape.width, shape.width);
    encoder.head.norm = reader.norm("lm_head.layer_norm");
    encoder.head.out.bias = reader.tensor("lm_head.bias", {shape.vocabulary});
    if (checkpoint_.find(names.head_weight) != nullptr) {
      encoder.head.out.weight = reader.tensor(names.head_weight, {shape.vocabulary, shape.width});
    }
  }
  checkpoint_.check_unchanged();
  return encoder;
}

}  // namespace ancify
