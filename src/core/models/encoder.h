// Transformer encoders over packed sequences, which are concatenated without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/threads.h"

namespace ancify {

struct EncoderShape {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t hidden = 0;      // of the feed-forward part
  std::int64_t vocabulary = 0;  // rows of the embedding

  std::int64_t head_width() const { return width / heads; }
};

struct NormTensors {
  std::vector<float> gain;
  std::vector<float> bias;
};

// y = x W' + b; W has one row per output.
struct LinearTensors {
  std::vector<float> weight;
  std::vector<float> bias;
};

struct LayerTensors {
  NormTensors attention_norm;
  LinearTensors query_key_value;  // the rows of all three, concatenated
  LinearTensors attention_out;
  NormTensors feed_forward_norm;
  LinearTensors up;  // in a gated layer, twice the rows and no bias
  LinearTensors down;
};

// The position of a layer's norms. kBefore: LN(x) enters attention and feed-forward, whose output
// is added to x. kAfter: LN is applied to the sum.
enum class NormPlace { kBefore, kAfter };

// From states to logits: LN(gelu(x Wd + bd)) O' + b. O is the embedding where the two are tied.
struct LanguageHead {
  LinearTensors dense;
  NormTensors norm;
  LinearTensors out;  // without a weight if it is the embedding
};

struct Encoder {
  EncoderShape shape;
  float epsilon = 1e-5F;
  NormPlace norms = NormPlace::kBefore;
  bool gated = false;  // gelu(first half) * second half, else gelu(all + bias)
  std::vector<float> embedding;
  NormTensors embedding_norm;              // without tensors if absent
  std::vector<float> inverse_frequencies;  // of a rotation: half a head's width
  std::vector<float> slopes;               // of distances: one per head, instead of a rotation
  std::vector<LayerTensors> layers;
  NormTensors last_norm;  // without tensors if absent
  LanguageHead head;      // without tensors if the file has none

  bool has_head() const { return !head.out.bias.empty(); }
};

// Rows [first, end) of a pack's tokens.
struct PackRows {
  std::int64_t first;
  std::int64_t end;
};

// Sequences of a pack: their tokens, and the offset of each sequence, followed by the end. Each
// sequence has its own scale of embeddings.
struct Pack {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets;
  std::vector<float> scales;
  std::vector<PackRows> own;     // the rows that are used, of each sequence
  std::int32_t zero_token = -1;  // token whose embedding counts as 0

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
};

// Receives the states before the first layer, after each layer, and after the last norm, if any.
using WatchStates = std::function<void(const std::vector<float>& states)>;

// The last states: one row of `width` per token. Idle threads take blocks of rows, and heads; the
// bytes do not depend on threads.
std::vector<float> encode(const Encoder& encoder, const Pack& pack, SimdLevel level,
                          const TaskContext& context, const WatchStates& watch = nullptr);

// log softmax of the logits of `n` rows of states: a row of `vocabulary` each.
std::vector<float> log_probabilities(const Encoder& encoder, const float* states, std::int64_t n,
                                     SimdLevel level);

// The last step: logits without the bias of the head become log-probabilities.
void finish_logits(const Encoder& encoder, float* logits, std::int64_t n);

// Cosines and sines of the angles of positions 0 to n - 1: one row per position, one value per
// frequency.
struct Angles {
  std::vector<float> cosines;
  std::vector<float> sines;
};
Angles angles_of(const std::vector<float>& inverse_frequencies, std::int64_t n);

}  // namespace ancify
