// The operations of an encoder on a device. What goes into a matrix product is a `Number`, float or
// Half. All else is float: sums of products, states, norms, softmax, angles.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/device/host_device.h"
#include "core/nn/half.h"
#include "core/nn/layers.h"
#include "core/nn/vector_math.h"

namespace ancify {

// x = factor * row of the table, for each token.
struct EmbedOp {
  static constexpr const char* kName = "EmbedOp";
  const float* table;
  const std::int32_t* tokens;
  const float* factors;
  std::size_t size;  // tokens
  std::size_t width;
  float* x;

  ANCIFY_HOST_DEVICE std::size_t n() const { return size * width; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    const std::size_t token = i / width;
    x[i] = factors[token] * table[static_cast<std::size_t>(tokens[token]) * width + i % width];
  }
};

// c = a b': a is rows x depth, b is columns x depth, without gaps. A library does it as a whole.
template <class Number>
struct ProductOp {
  static constexpr const char* kName = "ProductOp";
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  const Number* a;
  const Number* b;
  float* c;
};

// Threads that share a row, and so the terms of its sums.
constexpr std::size_t kRowThreads = 128;

// Does the work of all threads of a row, one after the other.
struct LoneRow {
  template <class Work>
  ANCIFY_HOST_DEVICE void for_each(std::size_t n, const Work& work) const {
    for (std::size_t j = 0; j < n; ++j) work(j);
  }
  template <class Term>
  ANCIFY_HOST_DEVICE float sum(std::size_t n, const Term& term) const {
    float sums[kRowThreads] = {};
    for (std::size_t j = 0; j < n; ++j) sums[j % kRowThreads] += term(j);
    for (std::size_t step = kRowThreads / 2; step > 0; step /= 2) {
      for (std::size_t j = 0; j < step; ++j) sums[j] += sums[j + step];
    }
    return sums[0];
  }
};

// x += y + bias where there is a y. Then the layer norm of x goes to `out`, and to x if `replaces`.
// Without a norm, x itself goes there. A part is a row.
template <class Number>
struct AddNormOp {
  static constexpr const char* kName = "AddNormOp";
  std::size_t rows;
  std::size_t width;
  float* x;
  const float* y;     // or null
  const float* bias;  // of y
  NormWeights norm;   // without a norm, the gain is null
  bool replaces;
  Number* out;

  ANCIFY_HOST_DEVICE std::size_t n() const { return rows; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const { do_row(LoneRow(), i); }

  // A thread of `team` sees the same numbers of the row each time, so that it need not wait for
  // others before it reads what it wrote.
  template <class Team>
  ANCIFY_HOST_DEVICE void do_row(const Team& team, std::size_t i) const {
    float* const row = x + i * width;
    Number* const to = out + i * width;
    if (y != nullptr) {
      const float* const more = y + i * width;
      team.for_each(width, [=](std::size_t j) { row[j] += more[j] + bias[j]; });
    }
    if (norm.gain == nullptr) {
      team.for_each(width, [=](std::size_t j) { store(row[j], to[j]); });
      return;
    }
    const auto size = static_cast<float>(width);
    const float mean = team.sum(width, [=](std::size_t j) { return row[j]; }) / size;
    const float variance =
        team.sum(width, [=](std::size_t j) { return (row[j] - mean) * (row[j] - mean); }) / size;
    const float scale = 1 / std::sqrt(variance + norm.epsilon);
    const NormWeights by = norm;
    const bool replace = replaces;
    team.for_each(width, [=](std::size_t j) {
      const float normed = (row[j] - mean) * scale * by.gain[j] + by.bias[j];
      if (replace) row[j] = normed;
      store(normed, to[j]);
    });
  }
};

// out = gelu(in + bias). Without a bias, in has twice the width: out = gelu(one half) * the other.
template <class Number>
struct ActivateOp {
  static constexpr const char* kName = "ActivateOp";
  std::size_t rows;
  std::size_t width;
  const float* in;
  const float* bias;  // or null
  Number* out;

  ANCIFY_HOST_DEVICE std::size_t n() const { return rows * width; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    const std::size_t j = i % width;
    if (bias != nullptr) {
      store(gelu(in[i] + bias[j]), out[i]);
    } else {
      const float* const halves = in + 2 * (i - j);
      store(gelu(halves[j]) * halves[width + j], out[i]);
    }
  }
};

// ---- Attention ----------------------------------------------------------------------------------

// Queries [first, end) of the sequence of tokens [sequence_first, sequence_end).
struct QueryBlock {
  std::int32_t first;
  std::int32_t end;
  std::int32_t sequence_first;
  std::int32_t sequence_end;
};

constexpr int kBlockQueries = 64;
constexpr int kWidestHead = 128;

// What a query has seen of its keys: the softmax of logits that come one after the other. Sums are
// in units of e^most, and are scaled anew where a larger logit comes. `kWide` is the width of a
// head, or more, with zeros.
//
// Milakov M, Gimelshein N (2018) Online normalizer calculation for softmax, arXiv:1805.02867.
template <int kWide>
struct OnlineSoftmax {
  float query[kWide];
  float sums[kWide] = {};
  float most = -INFINITY;
  float total = 0;

  // components(j) gives those of the query.
  template <class Query>
  ANCIFY_HOST_DEVICE void begin(const Query& components) {
    ANCIFY_UNROLL
    for (int j = 0; j < kWide; ++j) query[j] = components(j);
  }
  ANCIFY_HOST_DEVICE void see(const float* key, const float* value, float scale, float bias) {
    float product = 0;
    ANCIFY_UNROLL
    for (int j = 0; j < kWide; ++j) product += query[j] * key[j];
    const float logit = product * scale + bias;
    if (logit > most) {
      const float shrink = exp_negative(most - logit);
      ANCIFY_UNROLL
      for (int j = 0; j < kWide; ++j) sums[j] *= shrink;
      total *= shrink;
      most = logit;
    }
    const float weight = exp_negative(logit - most);
    ANCIFY_UNROLL
    for (int j = 0; j < kWide; ++j) sums[j] += weight * value[j];
    total += weight;
  }
};

// Softmax attention within sequences that lie end to end: softmax(scale q k' - slope |i - j|) v. A
// row of qkv has q, k and v of all heads; biases are added to them here. Where there are cosines, q
// and k are rotated by their positions. A part is a block of queries and a head.
template <class Number>
struct AttentionOp {
  static constexpr const char* kName = "AttentionOp";
  enum Part { kQuery, kKey, kValue };
  const float* qkv;
  const float* bias;
  const float* cosines;  // a row a position, half a head each; or null
  const float* sines;
  const float* slopes;  // a head each; or null
  const QueryBlock* blocks;
  std::size_t size;  // blocks
  int heads;
  int wide;  // of a head
  Number* out;

  ANCIFY_HOST_DEVICE std::size_t n() const { return size * static_cast<std::size_t>(heads); }
  ANCIFY_HOST_DEVICE const QueryBlock& block(std::size_t i) const {
    return blocks[i / static_cast<std::size_t>(heads)];
  }
  ANCIFY_HOST_DEVICE int head(std::size_t i) const {
    return static_cast<int>(i % static_cast<std::size_t>(heads));
  }
  ANCIFY_HOST_DEVICE float scale() const { return 1 / std::sqrt(static_cast<float>(wide)); }

  // Component j of a token's part; zero beyond the head's width.
  ANCIFY_HOST_DEVICE float component(Part part, std::int32_t token, std::int32_t position, int head,
                                     int j) const {
    if (j >= wide) return 0;
    const int first = (part * heads + head) * wide;
    const float* const row = qkv + static_cast<std::size_t>(token) * 3 * row_width() + first;
    const float own = row[j] + bias[first + j];
    if (part == kValue || cosines == nullptr) return own;
    const int half = wide / 2;
    const bool low = j < half;
    const int other_j = low ? j + half : j - half;
    const float other = row[other_j] + bias[first + other_j];
    const std::size_t at = static_cast<std::size_t>(position) * static_cast<std::size_t>(half) +
                           static_cast<std::size_t>(low ? j : other_j);
    return own * cosines[at] + (low ? -other : other) * sines[at];
  }
  template <int kWide>
  ANCIFY_HOST_DEVICE void begin(OnlineSoftmax<kWide>& seen, const QueryBlock& of,
                                std::int32_t query, int head) const {
    seen.begin([&](int j) { return component(kQuery, query, query - of.sequence_first, head, j); });
  }
  ANCIFY_HOST_DEVICE float bias_of(std::int32_t query, std::int32_t key, int head) const {
    return slopes == nullptr
               ? 0
               : -slopes[head] * static_cast<float>(query < key ? key - query : query - key);
  }
  template <int kWide>
  ANCIFY_HOST_DEVICE void end(const OnlineSoftmax<kWide>& seen, std::int32_t query,
                              int head) const {
    Number* const to = out + static_cast<std::size_t>(query) * row_width() + head * wide;
    ANCIFY_UNROLL
    for (int j = 0; j < kWide; ++j) {
      if (j < wide) store(seen.sums[j] / seen.total, to[j]);
    }
  }

  // On the host: the plain order of a block's queries and keys.
  void operator()(std::size_t i) const {
    const QueryBlock& of = block(i);
    for (std::int32_t query = of.first; query < of.end; ++query) {
      OnlineSoftmax<kWidestHead> seen;
      begin(seen, of, query, head(i));
      for (std::int32_t token = of.sequence_first; token < of.sequence_end; ++token) {
        float key[kWidestHead];
        float value[kWidestHead];
        for (int j = 0; j < kWidestHead; ++j) {
          key[j] = component(kKey, token, token - of.sequence_first, head(i), j);
          value[j] = component(kValue, token, token - of.sequence_first, head(i), j);
        }
        seen.see(key, value, scale(), bias_of(query, token, head(i)));
      }
      end(seen, query, head(i));
    }
  }

 private:
  ANCIFY_HOST_DEVICE std::size_t row_width() const {
    return static_cast<std::size_t>(heads) * static_cast<std::size_t>(wide);
  }
};

}  // namespace ancify
