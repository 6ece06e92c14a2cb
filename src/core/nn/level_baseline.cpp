// The layers for any processor of the build's architecture: SSE2, or NEON.
#include "core/matrices/level.h"
#include "core/nn/layer_code.h"

namespace ancify {

const Layers& layers_of(SimdLevel level) {
  const Layers* const avx512 = layers_for_avx512();
  if (level >= SimdLevel::kAvx512 && avx512 != nullptr) return *avx512;
  const Layers* const avx2 = layers_for_avx2();
  return level >= SimdLevel::kAvx2 && avx2 != nullptr ? *avx2 : kLayers;
}

ProductsOf<float> products_of(SimdLevel level) {
  return {matrix_functions_of(level).multiply_floats, layers_of(level).add_product};
}

}  // namespace ancify
