// The layers for AVX-512.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)

#include "core/nn/layer_code.h"

namespace ancify {

const Layers* layers_for_avx512() { return &kLayers; }

}  // namespace ancify

#else

#include "core/nn/layers.h"

namespace ancify {

const Layers* layers_for_avx512() { return nullptr; }

}  // namespace ancify

#endif
