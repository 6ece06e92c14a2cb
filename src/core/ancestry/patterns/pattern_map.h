// A hash map from site patterns, of any number of species, to numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/ancestry/patterns/site_patterns.h"

namespace ancify {

// Open addressing. A slot holds a key and its number; the number 0 marks an empty slot.
class PatternMap {
 public:
  explicit PatternMap(int n_species) : keys_(n_species) { clear(12); }

  // Calls take(i, key, number) for every position i. `number` is 0 for a new pattern, and take()
  // must then change it. `key` is valid during the call only.
  template <class Take>
  void for_each_site(const Sites& sites, SimdLevel level, Take take) {
    keys_.for_each_stretch(sites, level,
                           [&](std::size_t start, std::size_t n, const std::uint64_t* keys) {
                             for (std::size_t i = 0; i < n; ++i) {
                               if (i + kAhead < n) prefetch(keys + (i + kAhead) * words());
                               const std::uint64_t* const key = keys + i * words();
                               take(start + i, key, find(key));
                             }
                           });
  }

  // Calls take(key, number) for every pattern in the map, in no particular order.
  template <class Take>
  void for_each(Take take) const {
    for (std::size_t at = 0; at < slots_.size(); at += words() + 1) {
      if (slots_[at + words()] > 0) take(&slots_[at], slots_[at + words()]);
    }
  }

  const PatternKeys& keys() const { return keys_; }

 private:
  static constexpr std::size_t kAhead = 16;

  std::size_t words() const { return keys_.words(); }
  std::size_t capacity() const { return std::size_t{1} << bits_; }

  void clear(int bits) {
    bits_ = bits;
    used_ = 0;
    slots_.assign(capacity() * (words() + 1), 0);
  }

  void prefetch(const std::uint64_t* key) const {
    __builtin_prefetch(&slots_[hash_of_key(key, words(), bits_) * (words() + 1)]);
  }

  std::uint64_t& find(const std::uint64_t* key) {
    if (used_ > capacity() / 2) grow();
    std::size_t place = hash_of_key(key, words(), bits_);
    for (;; place = (place + 1) & (capacity() - 1)) {
      std::uint64_t* const slot = &slots_[place * (words() + 1)];
      std::uint64_t& number = slot[words()];
      if (number == 0) {
        std::copy_n(key, words(), slot);
        ++used_;
        return number;
      }
      if (std::equal(key, key + words(), slot)) return number;
    }
  }

  void grow() {
    const auto old = std::move(slots_);
    clear(bits_ + 1);
    for (std::size_t at = 0; at < old.size(); at += words() + 1) {
      if (old[at + words()] > 0) find(&old[at]) = old[at + words()];
    }
  }

  PatternKeys keys_;
  int bits_ = 0;
  std::size_t used_ = 0;
  std::vector<std::uint64_t> slots_;
};

}  // namespace ancify
