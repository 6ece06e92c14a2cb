// Sums of blocks for AVX-512.
#if defined(__AVX512VNNI__)

#include "core/genotypes/block_sums_code.h"

namespace ancify {

const BlockSums* block_sums_for_avx512() { return &kBlockSums; }

}  // namespace ancify

#else

#include "core/genotypes/block_sums.h"

namespace ancify {

const BlockSums* block_sums_for_avx512() { return nullptr; }

}  // namespace ancify

#endif
