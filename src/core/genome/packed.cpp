// Packs bases into half a byte each.
#include "core/genome/packed.h"

#include <algorithm>

#include "core/genome/bases_avx512.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify {

namespace {

// Calls write(bytes, low, first, n) for each stretch of positions that lie in the low nibbles, or
// in the high ones, of n successive bytes. `first` counts from `position`.
template <class Write>
ANCIFY_ALWAYS_INLINE void for_each_stretch(char* packed, std::size_t position, std::size_t n,
                                           Write write) {
  for (std::size_t done = 0; done < n;) {
    const std::size_t at = position + done;
    const std::size_t here = std::min(n - done, kPackedHalf - at % kPackedHalf);
    char* bytes = packed + at / kPackedGroup * kPackedHalf + at % kPackedHalf;
    write(reinterpret_cast<std::uint8_t*>(bytes), at % kPackedGroup < kPackedHalf, done, here);
    done += here;
  }
}

struct PackStretch {
  const char* bases;

  ANCIFY_ALWAYS_INLINE void operator()(std::uint8_t* bytes, bool low, std::size_t first,
                                       std::size_t n) const {
    // Most stretches are half a group, and a loop of known length compiles to better code.
    if (n == kPackedHalf) {
      pack(bytes, low, bases + first, kPackedHalf);
    } else {
      pack(bytes, low, bases + first, n);
    }
  }

  static ANCIFY_ALWAYS_INLINE void pack(std::uint8_t* __restrict bytes, bool low,
                                        const char* __restrict from, std::size_t n) {
    if (low) {
      for (std::size_t i = 0; i < n; ++i) {
        bytes[i] = static_cast<std::uint8_t>((bytes[i] & 0xf0) | base_code(from[i]));
      }
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        bytes[i] = static_cast<std::uint8_t>((bytes[i] & 0x0f) | base_code(from[i]) << 4);
      }
    }
  }
};

ANCIFY_ALWAYS_INLINE void pack(const char* bases, std::size_t n, std::size_t position,
                               char* packed) {
  for_each_stretch(packed, position, n, PackStretch{bases});
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 void pack_avx2(const char* bases, std::size_t n, std::size_t position,
                                  char* packed) {
  pack(bases, n, position, packed);
}
ANCIFY_TARGET_AVX512 void pack_avx512(const char* bases, std::size_t n, std::size_t position,
                                      char* packed) {
  const std::size_t before = std::min(n, (kPackedGroup - position % kPackedGroup) % kPackedGroup);
  pack(bases, before, position, packed);
  const std::size_t whole = (n - before) / kPackedGroup * kPackedGroup;
  char* const groups = packed + packed_size(position);
  for (std::size_t at = 0; at < whole; at += kPackedGroup) {
    const __m512i low = load_base_codes(bases + before + at);
    const __m512i high = load_base_codes(bases + before + at + kPackedHalf);
    _mm512_storeu_si512(groups + at / 2, _mm512_or_si512(low, _mm512_slli_epi16(high, 4)));
  }
  pack(bases + before + whole, n - before - whole, position + before + whole, packed);
}
#endif

}  // namespace

void pack_bases(const char* bases, std::size_t n, std::size_t position, char* packed,
                SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return pack_avx512(bases, n, position, packed);
  if (level == SimdLevel::kAvx2) return pack_avx2(bases, n, position, packed);
#endif
  (void)level;
  pack(bases, n, position, packed);
}

}  // namespace ancify
