// x = scale E[token], with a norm if the model has one. In each layer, with q, k, v = h W' + b,
//   A(h) = softmax(q k' / sqrt(width of a head) - slope |i - j|) v Wo' + bo
//   F(h) = gelu(h W1' + b1) W2' + b2, or, gated, (gelu(h Wg') * (h Wu')) W2' + b2
// Norms before: x += A(LN(x)); x += F(LN(x)); and a final LN(x). Norms after: x = LN(x + A(x)); x =
// LN(x + F(x)). Positions are slopes, or a rotation of q and k.
//
// Lin Z et al. (2023) Evolutionary-scale prediction of atomic-level protein structure with a
// language model. Science 379: 1123-1130. Su J et al. (2021) RoFormer, arXiv:2104.09864. Press O,
// Smith NA, Lewis M (2022) Train short, test long: attention with linear biases enables input
// length extrapolation. ICLR. Shazeer N (2020) GLU variants improve transformer, arXiv:2002.05202.
#include "core/models/encoder.h"

#include <algorithm>
#include <cmath>

#include "core/matrices/level.h"
#include "core/nn/layers.h"

namespace ancify {

namespace {

// Rows per block, fixed as the rounding of products may depend on it.
constexpr std::int64_t kBlock = 256;

MatrixProduct by_weights(const Rows& x, const LinearTensors& linear, const Rows& out) {
  return {x.rows,  out.width, x.width,  x.data,    x.stride, linear.weight.data(),
          x.width, true,      out.data, out.stride};
}

NormWeights weights_of(const NormTensors& norm, float epsilon) {
  return {norm.gain.data(), norm.bias.data(), epsilon};
}

// Rows with memory of their own.
class OwnRows {
 public:
  OwnRows(std::int64_t rows, std::int64_t width)
      : data_(static_cast<std::size_t>(rows * width)), rows_{data_.data(), rows, width, width} {}
  OwnRows(const OwnRows&) = delete;
  OwnRows& operator=(const OwnRows&) = delete;
  const Rows& all() const { return rows_; }
  Rows some(std::int64_t first, std::int64_t n) const {
    return {rows_.data + first * rows_.stride, n, rows_.width, rows_.stride};
  }
  std::vector<float>& data() { return data_; }

 private:
  std::vector<float> data_;
  Rows rows_;
};

class Encoding {
 public:
  Encoding(const Encoder& encoder, const Pack& pack, SimdLevel level, const TaskContext& context)
      : encoder_(encoder),
        shape_(encoder.shape),
        pack_(pack),
        layers_(layers_of(level)),
        multiply_(matrix_functions_of(level).multiply_floats),
        context_(context),
        x_(pack.size(), shape_.width),
        qkv_(pack.size(), 3 * shape_.width),
        attended_(pack.size(), shape_.width) {}

  std::vector<float> run(const WatchStates& watch) {
    embed();
    make_rotation();
    normalise(encoder_.embedding_norm, x_.all());
    if (watch) watch(x_.data());
    for (const LayerTensors& layer : encoder_.layers) {
      for_each_block([&](std::int64_t first, std::int64_t n) { project(layer, first, n); });
      const std::int64_t sequences = static_cast<std::int64_t>(pack_.offsets.size()) - 1;
      context_.share(sequences * shape_.heads, [&](std::int64_t i) {
        context_.throw_if_stopped();
        attend(i / shape_.heads, i % shape_.heads);
      });
      for_each_block([&](std::int64_t first, std::int64_t n) {
        add_attended(layer, first, n);
        feed_forward(layer, first, n);
      });
      if (watch) watch(x_.data());
    }
    if (normalise(encoder_.last_norm, x_.all()) && watch) watch(x_.data());
    return std::move(x_.data());
  }

 private:
  template <class Work>
  void for_each_block(Work work) {
    const std::int64_t blocks = (pack_.size() + kBlock - 1) / kBlock;
    context_.share(blocks, [&](std::int64_t i) {
      context_.throw_if_stopped();
      work(i * kBlock, std::min(kBlock, pack_.size() - i * kBlock));
    });
  }

  // Returns false if the model lacks this norm.
  bool normalise(const NormTensors& norm, const Rows& x) const {
    if (norm.gain.empty()) return false;
    layers_.layer_norm(x, weights_of(norm, encoder_.epsilon), x);
    return true;
  }

  // The input of attention or feed-forward: x itself, or its norm in `normed`.
  Rows input_of(const NormTensors& norm, const Rows& x, const Rows& normed) const {
    if (encoder_.norms == NormPlace::kAfter) return x;
    layers_.layer_norm(x, weights_of(norm, encoder_.epsilon), normed);
    return normed;
  }

  void add_to(const Rows& x, const LinearTensors& linear, const Rows& from, const Rows& out,
              const NormTensors& norm) const {
    multiply_(by_weights(from, linear, out));
    layers_.add_bias(out, linear.bias.data());
    layers_.add(x, out);
    if (encoder_.norms == NormPlace::kAfter) normalise(norm, x);
  }

  void embed() {
    const std::int64_t width = shape_.width;
    for (std::size_t s = 0; s + 1 < pack_.offsets.size(); ++s) {
      for (std::int64_t i = pack_.offsets[s]; i < pack_.offsets[s + 1]; ++i) {
        const std::int32_t token = pack_.tokens[static_cast<std::size_t>(i)];
        if (token == pack_.zero_token) continue;  // the rows start as zeros
        const float* const from = encoder_.embedding.data() + token * width;
        float* const to = x_.all().data + i * width;
        for (std::int64_t j = 0; j < width; ++j) to[j] = from[j] * pack_.scales[s];
      }
    }
  }

  void make_rotation() {
    std::int64_t longest = 0;
    for (std::size_t s = 0; s + 1 < pack_.offsets.size(); ++s) {
      longest = std::max(longest, pack_.offsets[s + 1] - pack_.offsets[s]);
    }
    angles_ = angles_of(encoder_.inverse_frequencies, longest);
  }

  void project(const LayerTensors& layer, std::int64_t first, std::int64_t n) {
    const OwnRows normed(n, shape_.width);
    const Rows out = qkv_.some(first, n);
    multiply_(by_weights(input_of(layer.attention_norm, x_.some(first, n), normed.all()),
                         layer.query_key_value, out));
    layers_.add_bias(out, layer.query_key_value.bias.data());
  }

  // One head of one sequence, in blocks of queries.
  void attend(std::int64_t sequence, std::int64_t head) {
    const auto s = static_cast<std::size_t>(sequence);
    const std::int64_t first = pack_.offsets[s];
    const std::int64_t length = pack_.offsets[s + 1] - first;
    const std::int64_t wide = shape_.head_width();
    const auto part = [&](std::int64_t which) {
      return Rows{qkv_.all().data + first * 3 * shape_.width + which * shape_.width + head * wide,
                  length, wide, 3 * shape_.width};
    };
    const Rows queries = part(0);
    const Rows keys = part(1);
    const Rows values = part(2);
    const float scale = 1 / std::sqrt(static_cast<float>(wide));
    const bool is_rotated = encoder_.slopes.empty();
    if (is_rotated) {
      const Rotation rotation = {angles_.cosines.data(), angles_.sines.data(), wide / 2};
      layers_.rotate(queries, rotation, scale);
      layers_.rotate(keys, rotation, 1);
    }
    const OwnRows weights(std::min(length, kBlock), length);
    float* const out = attended_.all().data + first * shape_.width + head * wide;
    for (std::int64_t i = 0; i < length; i += kBlock) {
      const Rows block = weights.some(0, std::min(kBlock, length - i));
      multiply_({block.rows, length, wide, queries.data + i * queries.stride, queries.stride,
                 keys.data, keys.stride, true, block.data, block.stride});
      if (!is_rotated) {
        layers_.scale_and_slope(block, i, scale, encoder_.slopes[static_cast<std::size_t>(head)]);
      }
      layers_.softmax(block);
      multiply_({block.rows, wide, length, block.data, block.stride, values.data, values.stride,
                 false, out + i * shape_.width, shape_.width});
    }
  }

  void add_attended(const LayerTensors& layer, std::int64_t first, std::int64_t n) {
    const OwnRows out(n, shape_.width);
    add_to(x_.some(first, n), layer.attention_out, attended_.some(first, n), out.all(),
           layer.attention_norm);
  }

  void feed_forward(const LayerTensors& layer, std::int64_t first, std::int64_t n) {
    const Rows x = x_.some(first, n);
    const OwnRows normed(n, shape_.width);
    const OwnRows hidden(n, shape_.hidden);
    const Rows input = input_of(layer.feed_forward_norm, x, normed.all());
    if (encoder_.gated) {
      const OwnRows halves(n, 2 * shape_.hidden);
      multiply_(by_weights(input, layer.up, halves.all()));
      layers_.gate(halves.all(), hidden.all());
    } else {
      multiply_(by_weights(input, layer.up, hidden.all()));
      layers_.add_bias_gelu(hidden.all(), layer.up.bias.data());
    }
    add_to(x, layer.down, hidden.all(), normed.all(), layer.feed_forward_norm);
  }

  const Encoder& encoder_;
  const EncoderShape& shape_;
  const Pack& pack_;
  const Layers& layers_;
  void (*multiply_)(const MatrixProduct& product);
  const TaskContext& context_;
  OwnRows x_;
  OwnRows qkv_;
  OwnRows attended_;
  Angles angles_;
};

}  // namespace

std::vector<float> encode(const Encoder& encoder, const Pack& pack, SimdLevel level,
                          const TaskContext& context, const WatchStates& watch) {
  return Encoding(encoder, pack, level, context).run(watch);
}

std::vector<float> log_probabilities(const Encoder& encoder, const float* states, std::int64_t n,
                                     SimdLevel level) {
  const Layers& layers = layers_of(level);
  const auto multiply = matrix_functions_of(level).multiply_floats;
  const EncoderShape& shape = encoder.shape;
  const OwnRows dense(n, shape.width);
  OwnRows logits(n, shape.vocabulary);
  multiply({n, shape.width, shape.width, states, shape.width, encoder.head.dense.weight.data(),
            shape.width, true, dense.all().data, shape.width});
  layers.add_bias_gelu(dense.all(), encoder.head.dense.bias.data());
  layers.layer_norm(dense.all(), weights_of(encoder.head.norm, encoder.epsilon), dense.all());
  const LinearTensors& out = encoder.head.out;
  const std::vector<float>& weight = out.weight.empty() ? encoder.embedding : out.weight;
  multiply({n, shape.vocabulary, shape.width, dense.all().data, shape.width, weight.data(),
            shape.width, true, logits.all().data, shape.vocabulary});
  finish_logits(encoder, logits.all().data, n);
  return std::move(logits.data());
}

void finish_logits(const Encoder& encoder, float* logits, std::int64_t n) {
  const std::vector<float>& bias = encoder.head.out.bias;
  for (std::int64_t i = 0; i < n; ++i) {
    float* const row = logits + i * encoder.shape.vocabulary;
    float* const end = row + bias.size();
    std::transform(row, end, bias.begin(), row, [](float x, float y) { return x + y; });
    const float most = *std::max_element(row, end);
    double sum = 0;
    for (const float* at = row; at < end; ++at) sum += std::exp(double{*at} - most);
    const double log_sum = most + std::log(sum);
    for (float* at = row; at < end; ++at) *at = static_cast<float>(double{*at} - log_sum);
  }
}

// Angles are in double precision: in single precision they would be off by 6e-5 at position 1000.
Angles angles_of(const std::vector<float>& inverse_frequencies, std::int64_t n) {
  Angles angles;
  for (std::int64_t i = 0; i < n; ++i) {
    for (const float frequency : inverse_frequencies) {
      const double angle = static_cast<double>(i) * static_cast<double>(frequency);
      angles.cosines.push_back(static_cast<float>(std::cos(angle)));
      angles.sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return angles;
}

}  // namespace ancify
