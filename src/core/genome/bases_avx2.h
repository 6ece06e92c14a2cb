// Computes base_code() of 32 characters at once.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include "core/device/simd.h"
#include "core/genome/bases.h"

namespace ancify {

// The lower four bits of a character select the only base that it can be. Any character other than
// this base is missing.
ANCIFY_TARGET_AVX2 inline __m256i load_base_codes_avx2(const char* bases) {
  const __m256i letters = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(-1, 'A', -1, 'C', 'T', -1, -1, 'G', -1, -1, -1, -1, -1, -1, -1, -1));
  const __m256i less =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 0, 3, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0));
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bases));
  const __m256i upper = _mm256_and_si256(bytes, _mm256_set1_epi8(~0x20));
  const __m256i is_base = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(letters, upper), upper);
  const __m256i less_than_missing = _mm256_and_si256(is_base, _mm256_shuffle_epi8(less, upper));
  return _mm256_sub_epi8(_mm256_set1_epi8(kMissing), less_than_missing);
}

}  // namespace ancify

#endif
