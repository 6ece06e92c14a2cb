// The code of all layers. Each level's file includes this one, and is compiled with that level's
// flags. Everything is in an unnamed namespace or inlined: a function with one name in all levels
// would be linked once, perhaps with instructions that the processor lacks.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/nn/layers.h"
#include "core/nn/placed_product.h"
#include "core/nn/vector_math.h"

namespace ancify {

namespace {

// Sums use lanes, which compilers vectorise, in one order at every level.
constexpr std::int64_t kLanes = 16;

template <class Term, class Join>
ANCIFY_ALWAYS_INLINE float fold_in_lanes(std::int64_t n, float start, Term term, Join join) {
  float lanes[kLanes];
  for (float& lane : lanes) lane = start;
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] = join(lanes[j], term(i + j));
  }
  for (std::int64_t j = 0; i < n; ++i, ++j) lanes[j] = join(lanes[j], term(i));
  for (std::int64_t step = kLanes / 2; step > 0; step /= 2) {
    for (std::int64_t j = 0; j < step; ++j) lanes[j] = join(lanes[j], lanes[j + step]);
  }
  return lanes[0];
}

template <class Term>
ANCIFY_ALWAYS_INLINE float lane_sum(std::int64_t n, Term term) {
  return fold_in_lanes(n, 0, term, [](float x, float y) { return x + y; });
}

void layer_norm(const Rows& x, const NormWeights& weights, const Rows& out) {
  const auto width = static_cast<float>(x.width);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const float* const from = x.data + i * x.stride;
    float* const to = out.data + i * out.stride;
    const float mean = lane_sum(x.width, [from](std::int64_t j) { return from[j]; }) / width;
    const float variance =
        lane_sum(x.width,
                 [from, mean](std::int64_t j) { return (from[j] - mean) * (from[j] - mean); }) /
        width;
    const float scale = 1 / std::sqrt(variance + weights.epsilon);
    for (std::int64_t j = 0; j < x.width; ++j) {
      to[j] = (from[j] - mean) * scale * weights.gain[j] + weights.bias[j];
    }
  }
}

void add_bias(const Rows& x, const float* bias) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    float* const row = x.data + i * x.stride;
    for (std::int64_t j = 0; j < x.width; ++j) row[j] += bias[j];
  }
}

void add_bias_gelu(const Rows& x, const float* bias) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    float* const row = x.data + i * x.stride;
    for (std::int64_t j = 0; j < x.width; ++j) row[j] = gelu(row[j] + bias[j]);
  }
}

void gate(const Rows& x, const Rows& out) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const float* const row = x.data + i * x.stride;
    const float* const other = row + out.width;
    float* const to = out.data + i * out.stride;
    for (std::int64_t j = 0; j < out.width; ++j) to[j] = gelu(row[j]) * other[j];
  }
}

void scale_and_slope(const Rows& x, std::int64_t first, float scale, float slope) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    float* const row = x.data + i * x.stride;
    const auto own = static_cast<std::int32_t>(first + i);
    const auto width = static_cast<std::int32_t>(x.width);
    for (std::int32_t j = 0; j < width; ++j) {
      row[j] = row[j] * scale - slope * std::fabs(static_cast<float>(j - own));
    }
  }
}

void add(const Rows& x, const Rows& y) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    float* const row = x.data + i * x.stride;
    const float* const more = y.data + i * y.stride;
    for (std::int64_t j = 0; j < x.width; ++j) row[j] += more[j];
  }
}

void softmax(const Rows& x) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    float* const row = x.data + i * x.stride;
    const float most = fold_in_lanes(
        x.width, row[0], [row](std::int64_t j) { return row[j]; },
        [](float one, float other) { return other > one ? other : one; });
    for (std::int64_t j = 0; j < x.width; ++j) row[j] = exp_negative(row[j] - most);
    const float scale = 1 / lane_sum(x.width, [row](std::int64_t j) { return row[j]; });
    for (std::int64_t j = 0; j < x.width; ++j) row[j] *= scale;
  }
}

void rotate(const Rows& x, const Rotation& rotation, float scale) {
  const std::int64_t half = rotation.half;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    float* const row = x.data + i * x.stride;
    const float* const cosines = rotation.cosines + i * half;
    const float* const sines = rotation.sines + i * half;
    for (std::int64_t j = 0; j < half; ++j) {
      const float low = row[j] * scale;
      const float high = row[j + half] * scale;
      row[j] = low * cosines[j] - high * sines[j];
      row[j + half] = high * cosines[j] + low * sines[j];
    }
  }
}

constexpr Layers kLayers = {add_product,     layer_norm, add_bias, add_bias_gelu, gate,
                            scale_and_slope, add,        softmax,  rotate};

}  // namespace

}  // namespace ancify
