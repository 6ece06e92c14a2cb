// The operations of an encoder on a device. Inputs of matrix products are `Number`, float or Half,
// as are outputs that feed the next product. All else is float: sums of products, states, norms,
// softmax, angles.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/device/host_device.h"
#include "core/device/several.h"
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

// c = a b', or c += a b': a is rows x depth, b is columns x depth. Rows of a are `stride` apart; b
// and c have no gaps. Executed as a whole by a library.
template <class Number, class Sum>
struct ProductOp {
  static constexpr const char* kName = "ProductOp";
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  const Number* a;
  std::int64_t stride;
  const Number* b;
  bool adds;
  Sum* c;
};

// Threads that share a row and the terms of its sums, and the values that each holds.
constexpr std::size_t kRowThreads = 128;
constexpr std::size_t kRowShare = 40;
constexpr std::size_t kWidestRow = kRowThreads * kRowShare;

// Does the work of all threads of a row, one after another.
class LoneRow {
 public:
  static constexpr int kEach = 1;

  template <class Work>
  void for_each(std::size_t n, const Work& work) {
    for (std::size_t j = 0; j < n; ++j) work(j, held_ + j);
  }
  template <class Term>
  float sum(std::size_t n, const Term& term) {
    float sums[kRowThreads] = {};
    for (std::size_t j = 0; j < n; ++j) sums[j % kRowThreads] += term(held_[j]);
    for (std::size_t step = kRowThreads / 2; step > 0; step /= 2) {
      for (std::size_t j = 0; j < step; ++j) sums[j] += sums[j + step];
    }
    return sums[0];
  }

 private:
  float held_[kWidestRow];
};

// Writes the layer norm of x + bias to `out`, and to x if `replaces`. Without a norm, writes x +
// bias itself. Each part is one row.
template <class Number>
struct NormOp {
  static constexpr const char* kName = "NormOp";
  std::size_t rows;
  std::size_t width;
  float* x;
  const float* bias;  // or null
  NormWeights norm;   // without a norm, the gain is null
  bool replaces;
  Number* out;

  ANCIFY_HOST_DEVICE std::size_t n() const { return rows; }
  void operator()(std::size_t i) const {
    LoneRow row;
    do_row(row, i);
  }

  // Each thread of `team` holds groups of adjacent values of the row.
  template <class Team>
  ANCIFY_HOST_DEVICE void do_row(Team& team, std::size_t i) const {
    constexpr int each = Team::kEach;
    float* const row = x + i * width;
    Number* const to = out + i * width;
    team.for_each(width, [&](std::size_t j, float* own) {
      const Several<float, each> read = several_at<each>(row + j);
      Several<float, each> more = {};
      if (bias != nullptr) more = several_at<each>(bias + j);
      ANCIFY_UNROLL
      for (int k = 0; k < each; ++k) own[k] = read.at[k] + more.at[k];
    });
    float mean = 0;
    float scale = 1;
    if (norm.gain != nullptr) {
      const auto size = static_cast<float>(width);
      mean = team.sum(width, [](float own) { return own; }) / size;
      const float variance =
          team.sum(width, [=](float own) { return (own - mean) * (own - mean); }) / size;
      scale = 1 / std::sqrt(variance + norm.epsilon);
    }
    team.for_each(width, [&](std::size_t j, const float* own) {
      Several<float, each> normed;
      Several<Number, each> rounded;
      Several<float, each> gain;
      Several<float, each> offset = {};
      ANCIFY_UNROLL
      for (int k = 0; k < each; ++k) gain.at[k] = 1;
      if (norm.gain != nullptr) {
        gain = several_at<each>(norm.gain + j);
        offset = several_at<each>(norm.bias + j);
      }
      ANCIFY_UNROLL
      for (int k = 0; k < each; ++k) {
        normed.at[k] = (own[k] - mean) * scale * gain.at[k] + offset.at[k];
        store(normed.at[k], rounded.at[k]);
      }
      if (replaces) several_at<each>(row + j) = normed;
      several_at<each>(to + j) = rounded;
    });
  }
};

// x = gelu(x + bias). Without a bias, a row of x has twice the width, and its first half becomes
// gelu(first half) * second half.
template <class Number>
struct ActivateOp {
  static constexpr const char* kName = "ActivateOp";
  std::size_t rows;
  std::size_t width;
  Number* x;
  const float* bias;  // or null

  ANCIFY_HOST_DEVICE std::size_t n() const { return rows * width; }
  void operator()(std::size_t i) const { activate<1>(i / width, i % width); }

  // Values j to j + kEach of a row.
  template <int kEach>
  ANCIFY_HOST_DEVICE void activate(std::size_t row, std::size_t j) const {
    Number* const at = x + row * (bias != nullptr ? 1 : 2) * width + j;
    Several<Number, kEach> own = several_at<kEach>(at);
    if (bias != nullptr) {
      const Several<float, kEach> more = several_at<kEach>(bias + j);
      ANCIFY_UNROLL
      for (int k = 0; k < kEach; ++k) store(gelu(to_float(own.at[k]) + more.at[k]), own.at[k]);
    } else {
      const Several<Number, kEach> other = several_at<kEach>(at + width);
      ANCIFY_UNROLL
      for (int k = 0; k < kEach; ++k) {
        store(gelu(to_float(own.at[k])) * to_float(other.at[k]), own.at[k]);
      }
    }
    several_at<kEach>(at) = own;
  }
};

// Rows [first, end).
struct RowRange {
  std::int32_t first;
  std::int32_t end;
};

// The mean of each range of rows of x.
struct MeanOp {
  static constexpr const char* kName = "MeanOp";
  const float* x;
  const RowRange* ranges;
  std::size_t size;  // ranges
  std::size_t width;
  float* means;

  ANCIFY_HOST_DEVICE std::size_t n() const { return size * width; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    const RowRange rows = ranges[i / width];
    const float* at = x + static_cast<std::size_t>(rows.first) * width + i % width;
    double sum = 0;
    ANCIFY_UNROLL_SOME
    for (std::int32_t row = rows.first; row < rows.end; ++row, at += width) {
      sum += static_cast<double>(*at);
    }
    means[i] = static_cast<float>(sum / (rows.end - rows.first));
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

// A query's accumulated result over its keys: the softmax of sequential logits. Sums are in units
// of e^most, and are rescaled when a larger logit arrives. `kWide` is the width of a head, or more
// with zero padding.
//
// Milakov M, Gimelshein N (2018) Online normalizer calculation for softmax, arXiv:1805.02867.
template <int kWide>
struct OnlineSoftmax {
  float query[kWide];
  float sums[kWide] = {};
  float most = -INFINITY;
  float total = 0;

  // components(j) returns component j of the query.
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

// Adds biases to queries and keys in place, and rotates them by their positions if cosines are
// given. A row of qkv has q, k and v of all heads. Each part is one value and its partner half a
// head further on.
template <class Number>
struct RotateOp {
  static constexpr const char* kName = "RotateOp";
  std::size_t size;  // tokens
  int heads;
  int wide;  // of a head
  Number* qkv;
  const float* bias;
  const std::int32_t* positions;  // of tokens
  const float* cosines;           // one row per position, half a head's width; or null
  const float* sines;

  // Pairs in a row, for the queries and keys of all heads.
  ANCIFY_HOST_DEVICE int pairs() const { return 2 * heads * (wide - wide / 2); }
  ANCIFY_HOST_DEVICE std::size_t n() const { return size * static_cast<std::size_t>(pairs()); }
  void operator()(std::size_t i) const {
    const auto all = static_cast<std::size_t>(pairs());
    rotate<1>(i / all, static_cast<int>(i % all));
  }

  // kEach pairs from `pair` on, of one head.
  template <int kEach>
  ANCIFY_HOST_DEVICE void rotate(std::size_t token, int pair) const {
    const int half = wide / 2;
    const int j = pair % (wide - half);
    const int first = pair / (wide - half) * wide + j;
    const std::size_t width = static_cast<std::size_t>(heads) * static_cast<std::size_t>(wide);
    Number* const numbers = qkv + token * 3 * width + first;
    Several<float, kEach> low = sum_of<kEach>(numbers, bias + first);
    Several<float, kEach> high = sum_of<kEach>(numbers + half, bias + first + half);
    if (cosines != nullptr) {
      const std::size_t at =
          static_cast<std::size_t>(positions[token]) * static_cast<std::size_t>(half) +
          static_cast<std::size_t>(j);
      const Several<float, kEach> cosine = several_at<kEach>(cosines + at);
      const Several<float, kEach> sine = several_at<kEach>(sines + at);
      ANCIFY_UNROLL
      for (int k = 0; k < kEach; ++k) {
        const float own = low.at[k];
        low.at[k] = own * cosine.at[k] - high.at[k] * sine.at[k];
        high.at[k] = high.at[k] * cosine.at[k] + own * sine.at[k];
      }
    }
    // The middle of an odd head is the upper value of its first pair.
    if (j < half) put(low, numbers);
    put(high, numbers + half);
  }

 private:
  template <int kEach>
  ANCIFY_HOST_DEVICE static Several<float, kEach> sum_of(const Number* numbers,
                                                         const float* biases) {
    const Several<Number, kEach> there = several_at<kEach>(numbers);
    Several<float, kEach> sums = several_at<kEach>(biases);
    ANCIFY_UNROLL
    for (int k = 0; k < kEach; ++k) sums.at[k] += to_float(there.at[k]);
    return sums;
  }
  template <int kEach>
  ANCIFY_HOST_DEVICE static void put(const Several<float, kEach>& numbers, Number* to) {
    Several<Number, kEach> rounded;
    ANCIFY_UNROLL
    for (int k = 0; k < kEach; ++k) store(numbers.at[k], rounded.at[k]);
    several_at<kEach>(to) = rounded;
  }
};

// Softmax attention within concatenated sequences: softmax(scale q k' - slope |i - j|) v. A row of
// qkv has q, k and v of all heads. Each part is one block of queries and one head.
template <class Number>
struct AttentionOp {
  static constexpr const char* kName = "AttentionOp";
  enum Part { kQuery, kKey, kValue };
  const Number* qkv;
  const float* slopes;  // one per head; or null
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

  // A token's query, key or value for one head.
  ANCIFY_HOST_DEVICE const Number* row(Part part, std::int32_t token, int head) const {
    return qkv + static_cast<std::size_t>(token) * 3 * row_width() + (part * heads + head) * wide;
  }
  // Component j of it; zero beyond the head's width.
  ANCIFY_HOST_DEVICE float component(Part part, std::int32_t token, int head, int j) const {
    return j < wide ? to_float(row(part, token, head)[j]) : 0;
  }
  template <int kWide>
  ANCIFY_HOST_DEVICE void begin(OnlineSoftmax<kWide>& seen, std::int32_t query, int head) const {
    seen.begin([&](int j) { return component(kQuery, query, head, j); });
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

  // On the host: processes a block's queries and keys in plain order.
  void operator()(std::size_t i) const {
    const QueryBlock& of = block(i);
    for (std::int32_t query = of.first; query < of.end; ++query) {
      OnlineSoftmax<kWidestHead> seen;
      begin(seen, query, head(i));
      for (std::int32_t token = of.sequence_first; token < of.sequence_end; ++token) {
        float key[kWidestHead];
        float value[kWidestHead];
        for (int j = 0; j < kWidestHead; ++j) {
          key[j] = component(kKey, token, head(i), j);
          value[j] = component(kValue, token, head(i), j);
        }
        seen.see(key, value, scale(), bias_of(query, token, head(i)));
      }
      end(seen, query, head(i));
    }
  }

  ANCIFY_HOST_DEVICE std::size_t row_width() const {
    return static_cast<std::size_t>(heads) * static_cast<std::size_t>(wide);
  }
};

}  // namespace ancify
