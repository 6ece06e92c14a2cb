// The layers of encoders on the CPU, for each level of vector instructions.
#pragma once

#include <cstdint>

#include "core/device/simd.h"
#include "core/nn/products.h"

namespace ancify {

// Rows of `width` values; `stride` is the distance between rows.
struct Rows {
  float* data;
  std::int64_t rows;
  std::int64_t width;
  std::int64_t stride;
};

// Gains and biases of a layer norm, `width` each.
struct NormWeights {
  const float* gain;
  const float* bias;
  float epsilon;
};

// Cosines and sines of a rotation: one row per position, `half` values each.
struct Rotation {
  const float* cosines;
  const float* sines;
  std::int64_t half;
};

// Functions that are written once, and compiled for each level. All are stateless.
struct Layers {
  void (*add_product)(const PlacedProduct& product);
  // Row by row, out = (x - mean) / sqrt(variance + epsilon) * gain + bias. `out` may be x.
  void (*layer_norm)(const Rows& x, const NormWeights& weights, const Rows& out);
  // x += bias, in each row.
  void (*add_bias)(const Rows& x, const float* bias);
  // x = gelu(x + bias), in each row.
  void (*add_bias_gelu)(const Rows& x, const float* bias);
  // out = gelu(first half of x) * second half of x, in each row.
  void (*gate)(const Rows& x, const Rows& out);
  // x = scale * x - slope * |i - j|, in row i and component j; i counts from `first`.
  void (*scale_and_slope)(const Rows& x, std::int64_t first, float scale, float slope);
  // x += y.
  void (*add)(const Rows& x, const Rows& y);
  // x = e^x / sum of e^x, in each row.
  void (*softmax)(const Rows& x);
  // x *= scale, then component j of a row is rotated with component j + half. Row 0 is position 0.
  void (*rotate)(const Rows& x, const Rotation& rotation, float scale);
};

// The layers for a level, or for the best lower level in the build. Levels differ in the rounding
// of sums.
const Layers& layers_of(SimdLevel level);

// The products of a level.
ProductsOf<float> products_of(SimdLevel level);

// The layers for AVX2 and FMA, and for AVX-512; null if the build lacks them.
const Layers* layers_for_avx2();
const Layers* layers_for_avx512();

}  // namespace ancify
