// Computes base_code() of 64 characters at once.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include "core/device/simd.h"
#include "core/genome/bases.h"

namespace ancify {

// Looks up codes by the lower seven bits. All letters are in the upper half of such a table.
ANCIFY_TARGET_AVX512 inline __m512i load_base_codes(const char* bases) {
  const __m512i bytes = _mm512_loadu_si512(bases);
  const __m512i missing = _mm512_set1_epi8(kMissing);
  constexpr std::uint64_t m = 0x0101010101010101 * kMissing;
  // Bytes 0 to 7 hold the codes of @ABCDEFG, bytes 16 to 23 the codes of PQRSTUVW. Lower case
  // follows 32 bytes later.
  constexpr std::uint64_t a_to_g = m - ((4ULL << 8) | (3ULL << 24) | (2ULL << 56));
  constexpr std::uint64_t p_to_w = m - (1ULL << 32);
  const __m512i letters = _mm512_setr_epi64(a_to_g, m, p_to_w, m, a_to_g, m, p_to_w, m);
  const __m512i codes = _mm512_permutex2var_epi8(missing, bytes, letters);
  return _mm512_mask_mov_epi8(codes, _mm512_movepi8_mask(bytes), missing);
}

}  // namespace ancify

#endif
