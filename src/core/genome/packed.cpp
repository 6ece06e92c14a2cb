// Packs bases into half a byte each.
#include "core/genome/packed.h"

#include <algorithm>

#include "core/genome/bases_avx2.h"
#include "core/genome/bases_avx512.h"

namespace ancify {

namespace {

// Calls write(bytes, low, first, n) for each stretch of positions in either the low or the high
// nibbles of n successive bytes. `first` counts from `position`.
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
// Packs the stretches before and after whole groups one by one. pack_group(bases, group) packs
// whole groups.
template <class PackGroup>
ANCIFY_ALWAYS_INLINE void pack_groups(const char* bases, std::size_t n, std::size_t position,
                                      char* packed, PackGroup pack_group) {
  const std::size_t before = std::min(n, (kPackedGroup - position % kPackedGroup) % kPackedGroup);
  pack(bases, before, position, packed);
  const std::size_t whole = (n - before) / kPackedGroup * kPackedGroup;
  char* const groups = packed + packed_size(position);
  for (std::size_t at = 0; at < whole; at += kPackedGroup) {
    pack_group(bases + before + at, groups + at / 2);
  }
  pack(bases + before + whole, n - before - whole, position + before + whole, packed);
}

struct PackGroupAvx2 {
  ANCIFY_TARGET_AVX2 void operator()(const char* bases, char* group) const {
    constexpr std::size_t width = 32;
    for (std::size_t at = 0; at < kPackedHalf; at += width) {
      const __m256i low = load_base_codes_avx2(bases + at);
      const __m256i high = load_base_codes_avx2(bases + kPackedHalf + at);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(group + at),
                          _mm256_or_si256(low, _mm256_slli_epi16(high, 4)));
    }
  }
};

struct PackGroupAvx512 {
  ANCIFY_TARGET_AVX512 void operator()(const char* bases, char* group) const {
    const __m512i low = load_base_codes(bases);
    const __m512i high = load_base_codes(bases + kPackedHalf);
    _mm512_storeu_si512(group, _mm512_or_si512(low, _mm512_slli_epi16(high, 4)));
  }
};

ANCIFY_TARGET_AVX2 void pack_avx2(const char* bases, std::size_t n, std::size_t position,
                                  char* packed) {
  pack_groups(bases, n, position, packed, PackGroupAvx2());
}
ANCIFY_TARGET_AVX512 void pack_avx512(const char* bases, std::size_t n, std::size_t position,
                                      char* packed) {
  pack_groups(bases, n, position, packed, PackGroupAvx512());
}
#endif

}  // namespace

void unpack_bases(const char* packed, std::size_t position, std::size_t n, char* letters) {
  for (std::size_t i = 0; i < n; ++i) letters[i] = upper_base(packed_code(packed, position + i));
}

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
