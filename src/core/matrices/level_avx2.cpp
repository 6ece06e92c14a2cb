// Matrices for AVX2 and FMA. Eigen is renamed here, so that levels share none of its functions.
#if defined(__AVX2__) && defined(__FMA__)

#define Eigen EigenAvx2

#include "core/matrices/eigen_code.h"

namespace ancify {

const MatrixFunctions* matrix_functions_for_avx2() { return &kFunctions; }

}  // namespace ancify

#else

#include "core/matrices/level.h"

namespace ancify {

const MatrixFunctions* matrix_functions_for_avx2() { return nullptr; }

}  // namespace ancify

#endif
