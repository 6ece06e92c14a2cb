#include "core/io/packed.h"

#include <algorithm>
#include <cstring>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify {

namespace {

// Calls write(bytes, low, first, n) for each stretch of positions that lies in the same nibble, the
// low one or the high one, of n successive bytes; `first` counts from the first position.
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
    // Most stretches are halves of a group, and a loop of known length is the better code.
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
  pack(bases, n, position, packed);
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

void pack_missing(std::size_t n, std::size_t position, char* packed) {
  constexpr std::uint8_t both = kMissing << 4 | kMissing;
  const std::size_t end = position + n;
  // Whole groups at once, the rest nibble by nibble.
  const std::size_t first_group = (position + kPackedGroup - 1) / kPackedGroup;
  const std::size_t last_group = end / kPackedGroup;
  const auto nibbles = [&](std::size_t from, std::size_t to) {
    if (from >= to) return;
    for_each_stretch(
        packed, from, to - from, [](std::uint8_t* bytes, bool low, std::size_t, std::size_t size) {
          for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = static_cast<std::uint8_t>(low ? (bytes[i] & 0xf0) | kMissing
                                                     : (bytes[i] & 0x0f) | kMissing << 4);
          }
        });
  };
  if (first_group >= last_group) {
    nibbles(position, end);
    return;
  }
  nibbles(position, first_group * kPackedGroup);
  std::memset(packed + first_group * kPackedHalf, both, (last_group - first_group) * kPackedHalf);
  nibbles(last_group * kPackedGroup, end);
}

}  // namespace ancify
