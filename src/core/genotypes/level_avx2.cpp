// Sums of blocks for AVX2.
#if defined(__AVX2__)

#include "core/genotypes/block_sums_code.h"

namespace ancify {

const BlockSums* block_sums_for_avx2() { return &kBlockSums; }

}  // namespace ancify

#else

#include "core/genotypes/block_sums.h"

namespace ancify {

const BlockSums* block_sums_for_avx2() { return nullptr; }

}  // namespace ancify

#endif
