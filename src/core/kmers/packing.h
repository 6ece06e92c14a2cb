// Packs k-mers and stretches of bases to two bits a base.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/device/host_device.h"
#include "core/genome/bases.h"

namespace ancify {

constexpr int kMostK = 64;

// A k-mer is an integer key: two bits a base (A C G T = 0 1 2 3), the first base highest. Keys
// therefore sort like texts. Up to 32 bases fit 64 bits.
using ShortKey = std::uint64_t;
__extension__ using LongKey = unsigned __int128;
constexpr int kMostShortK = 32;

// Calls with_key() with ShortKey or LongKey, whichever k needs.
template <class Call>
auto with_key(int k, Call call) {
  return k <= kMostShortK ? call(ShortKey{}) : call(LongKey{});
}

// A mask of k bases.
template <class Key>
ANCIFY_HOST_DEVICE Key key_mask(int k) {
  return static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - 2 * static_cast<std::size_t>(k));
}

// Reverses the bytes of a word. The host's compilers make one instruction of it.
ANCIFY_HOST_DEVICE inline std::uint64_t bytes_swapped(std::uint64_t word) {
  constexpr std::uint64_t bytes = 0x00ff00ff00ff00ffU;
  constexpr std::uint64_t halves = 0x0000ffff0000ffffU;
  word = (word >> 8 & bytes) | (word & bytes) << 8;
  word = (word >> 16 & halves) | (word & halves) << 16;
  return word >> 32 | word << 32;
}

// Reverses the bases of a key.
ANCIFY_HOST_DEVICE inline ShortKey reversed(ShortKey key) {
  constexpr ShortKey nibbles = 0x0f0f0f0f0f0f0f0fU;
  constexpr ShortKey pairs = 0x3333333333333333U;
  key = bytes_swapped(key);
  key = (key >> 4 & nibbles) | (key & nibbles) << 4;
  return (key >> 2 & pairs) | (key & pairs) << 2;
}
ANCIFY_HOST_DEVICE inline LongKey reversed(LongKey key) {
  const auto low = static_cast<ShortKey>(key);
  const auto high = static_cast<ShortKey>(key >> 64);
  return LongKey{reversed(low)} << 64 | reversed(high);
}

template <class Key>
ANCIFY_HOST_DEVICE Key reverse_complement(Key key, int k) {
  return reversed(static_cast<Key>(~key)) >> (8 * sizeof(Key) - 2 * static_cast<std::size_t>(k));
}

template <class Key>
Key canonical_key(Key key, int k) {
  return std::min(key, reverse_complement(key, k));
}

// Unpacks n > 0 bases from bytes: four a byte, the first one highest. Reads sizeof(Key) bytes.
template <class Key>
ANCIFY_HOST_DEVICE Key first_bases(const char* bytes, std::size_t n) {
  Key key = 0;
  for (std::size_t i = 0; i < sizeof(Key); i += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    key = key << 32 << 32 | bytes_swapped(word);
  }
  return key >> (8 * sizeof(Key) - 2 * n);
}
// Packs the last n > 0 bases of the key. Writes sizeof(Key) bytes, padded at the end.
template <class Key>
void put_bases(char* bytes, Key key, std::size_t n) {
  key <<= 8 * sizeof(Key) - 2 * n;
  for (std::size_t i = sizeof(Key) / 8; i-- > 0; key = key >> 32 >> 32) {
    const std::uint64_t word = bytes_swapped(static_cast<std::uint64_t>(key));
    std::memcpy(bytes + 8 * i, &word, sizeof word);
  }
}

// The k-mer at the end of a growing stretch, and its reverse complement.
template <class Key>
class RollingKey {
 public:
  ANCIFY_HOST_DEVICE explicit RollingKey(int k) : mask_(key_mask<Key>(k)), shift_(2 * (k - 1)) {}
  ANCIFY_HOST_DEVICE RollingKey(int k, Key key) : RollingKey(k) {
    forward_ = key;
    reverse_ = reverse_complement(key, k);
  }
  ANCIFY_HOST_DEVICE void add(std::uint8_t code) {
    forward_ = ((forward_ << 2) | code) & mask_;
    reverse_ = (reverse_ >> 2) | (static_cast<Key>(3 - code) << shift_);
  }
  ANCIFY_HOST_DEVICE Key forward() const { return forward_; }
  ANCIFY_HOST_DEVICE Key canonical() const { return forward_ < reverse_ ? forward_ : reverse_; }
  ANCIFY_HOST_DEVICE Key get(bool canonical_only) const {
    return canonical_only ? canonical() : forward_;
  }

 private:
  Key mask_;
  int shift_;
  Key forward_ = 0;
  Key reverse_ = 0;
};

template <class Key>
std::string key_text(Key key, int k) {
  std::string text(static_cast<std::size_t>(k), 'A');
  for (std::size_t i = text.size(); i-- > 0; key >>= 2) {
    text[i] = upper_base(static_cast<int>(key & 3));
  }
  return text;
}

// Calls take(position, key) for each k-mer of `bases` without a letter other than A, C, G and T.
template <class Key, class Take>
void for_each_kmer(std::string_view bases, int k, bool canonical, Take&& take) {
  RollingKey<Key> rolling(k);
  int known = 0;  // bases since the last other letter, at most k
  for (std::size_t i = 0; i < bases.size(); ++i) {
    const std::uint8_t code = base_code(bases[i]);
    if (code == kMissing) {
      known = 0;
      continue;
    }
    rolling.add(code);
    known = std::min(known + 1, k);
    if (known == k) take(i + 1 - static_cast<std::size_t>(k), rolling.get(canonical));
  }
}

// A k-mer with its count.
template <class Key>
struct Counted {
  Key key;
  std::uint32_t count;
};

constexpr std::uint32_t kMostCount = ~std::uint32_t{0};

inline std::uint32_t saturated(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kMostCount));
}

}  // namespace ancify
