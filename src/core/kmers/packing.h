// k-mers as numbers, and stretches of bases in two bits each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/genome/bases.h"

namespace ancify {

constexpr int kMostK = 64;

// A k-mer is a number: two bits a base (A C G T = 0 1 2 3), the first base highest. So numbers sort
// as texts do. Up to 32 bases fit 64 bits.
using ShortKey = std::uint64_t;
__extension__ using LongKey = unsigned __int128;
constexpr int kMostShortK = 32;

// Calls with_key(ShortKey or LongKey), as k needs.
template <class Call>
auto with_key(int k, Call call) {
  return k <= kMostShortK ? call(ShortKey{}) : call(LongKey{});
}

// All bits of k bases.
template <class Key>
Key key_mask(int k) {
  return static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - 2 * static_cast<std::size_t>(k));
}

// The k-mer at the end of a growing stretch, and its reverse complement.
template <class Key>
class RollingKey {
 public:
  explicit RollingKey(int k) : mask_(key_mask<Key>(k)), shift_(2 * (k - 1)) {}
  void add(std::uint8_t code) {
    forward_ = ((forward_ << 2) | code) & mask_;
    reverse_ = (reverse_ >> 2) | (static_cast<Key>(3 - code) << shift_);
  }
  Key forward() const { return forward_; }
  Key canonical() const { return std::min(forward_, reverse_); }
  Key get(bool canonical_only) const { return canonical_only ? canonical() : forward_; }

 private:
  Key mask_;
  int shift_;
  Key forward_ = 0;
  Key reverse_ = 0;
};

template <class Key>
Key canonical_key(Key key, int k) {
  RollingKey<Key> rolling(k);
  for (int i = k - 1; i >= 0; --i) rolling.add(static_cast<std::uint8_t>(key >> (2 * i)) & 3);
  return rolling.canonical();
}

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
