// The layers for AVX2 and FMA. Eigen has another name here, so that levels share none of its
// functions.
#if defined(__AVX2__) && defined(__FMA__)

#define Eigen EigenAvx2

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
