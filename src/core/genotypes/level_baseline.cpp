// Sums of blocks for any processor of the build's architecture: SSE2, or NEON.
#include "core/genotypes/block_sums_code.h"

namespace ancify {

const BlockSums& block_sums_of(SimdLevel level) {
  const BlockSums* const avx512 = block_sums_for_avx512();
  if (level >= SimdLevel::kAvx512 && avx512 != nullptr) return *avx512;
  const BlockSums* const avx2 = block_sums_for_avx2();
  return level >= SimdLevel::kAvx2 && avx2 != nullptr ? *avx2 : kBlockSums;
}

}  // namespace ancify
