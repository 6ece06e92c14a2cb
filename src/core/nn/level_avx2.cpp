// The layers for AVX2 and FMA.
#if defined(__AVX2__) && defined(__FMA__)

#include "core/nn/layer_code.h"

namespace ancify {

const Layers* layers_for_avx2() { return &kLayers; }

}  // namespace ancify

#else

#include "core/nn/layers.h"

namespace ancify {

const Layers* layers_for_avx2() { return nullptr; }

}  // namespace ancify

#endif
