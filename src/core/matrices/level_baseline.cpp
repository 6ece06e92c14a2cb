// Matrices for any processor of the build's architecture: SSE2, or NEON.
#include "core/matrices/eigen_code.h"

namespace ancify {

const MatrixFunctions& matrix_functions_of(SimdLevel level) {
  const MatrixFunctions* const avx512 = matrix_functions_for_avx512();
  if (level >= SimdLevel::kAvx512 && avx512 != nullptr) return *avx512;
  const MatrixFunctions* const avx2 = matrix_functions_for_avx2();
  return level >= SimdLevel::kAvx2 && avx2 != nullptr ? *avx2 : kFunctions;
}

}  // namespace ancify
