// Matrices for AVX-512. Eigen is renamed here, so that levels share none of its functions.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)

#define Eigen EigenAvx512
// Eigen 3.3 uses AVX-512 only if this is defined, and even then aligns for AVX by default.
#define EIGEN_ENABLE_AVX512
#define EIGEN_MAX_ALIGN_BYTES 64

#include "core/matrices/eigen_code.h"

namespace ancify {

const MatrixFunctions* matrix_functions_for_avx512() { return &kFunctions; }

}  // namespace ancify

#else

#include "core/matrices/level.h"

namespace ancify {

const MatrixFunctions* matrix_functions_for_avx512() { return nullptr; }

}  // namespace ancify

#endif
