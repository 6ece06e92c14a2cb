// Sorts k-mers by their digits, and counts equal ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/kmers/packing.h"

namespace ancify {

constexpr int kDigitBits = 8;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

template <class Key>
Key key_of(Key key) {
  return key;
}
template <class Key>
Key key_of(const Counted<Key>& entry) {
  return entry.key;
}

template <class Item>
std::size_t digit_of(const Item& item, int shift) {
  return static_cast<std::size_t>(key_of(item) >> shift) & (kDigits - 1);
}

// Turns counts of items into their starts.
template <class Counts>
void starts_of(Counts& counts) {
  typename Counts::value_type sum = 0;
  for (auto& count : counts) sum += std::exchange(count, sum);
}

// Sorts n items by the lowest `bits` of their keys, from the lowest digit up: for few items, which
// fit the processor's cache. Returns the sorted array, `items` or `spare`.
template <class Item>
Item* sort_few(Item* items, Item* spare, std::size_t n, int bits) {
  constexpr std::size_t most = sizeof(key_of(Item()));
  const auto digits = static_cast<std::size_t>((bits + kDigitBits - 1) / kDigitBits);
  // All digits are counted while equal items are apart: repeated additions to one counter wait for
  // each other.
  std::array<std::array<std::uint32_t, kDigits>, most> starts;
  for (std::size_t d = 0; d < digits; ++d) starts[d].fill(0);
  for (std::size_t i = 0; i < n; ++i) {
    auto key = key_of(items[i]);
    for (std::size_t d = 0; d < digits; ++d, key >>= kDigitBits) ++starts[d][key & (kDigits - 1)];
  }
  for (std::size_t d = 0; d < digits; ++d) {
    const int shift = static_cast<int>(d) * kDigitBits;
    if (starts[d][digit_of(items[0], shift)] == n) continue;
    starts_of(starts[d]);
    for (std::size_t i = 0; i < n; ++i) spare[starts[d][digit_of(items[i], shift)]++] = items[i];
    std::swap(items, spare);
  }
  return items;
}

// Sorts n items by the lowest `bits` of their keys, from the highest digit down until parts are
// small. The result is in `items`, or with `in_spare` in `spare`.
template <class Item>
void sort_many(Item* items, Item* spare, std::size_t n, int bits, bool in_spare) {
  constexpr std::size_t few = 1 << 12;
  if (n == 0) return;
  if (n <= few || bits <= kDigitBits) {
    Item* const sorted = sort_few(items, spare, n, bits);
    Item* const to = in_spare ? spare : items;
    if (sorted != to) std::copy(sorted, sorted + n, to);
    return;
  }
  const int shift = bits - kDigitBits;
  std::array<std::size_t, kDigits> ends{};
  for (std::size_t i = 0; i < n; ++i) ++ends[digit_of(items[i], shift)];
  starts_of(ends);
  for (std::size_t i = 0; i < n; ++i) spare[ends[digit_of(items[i], shift)]++] = items[i];
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    sort_many(spare + begin, items + begin, end - begin, shift, !in_spare);
    begin = end;
  }
}

// Sorts by the lowest `bits` of the keys. `spare` is workspace.
template <class Item>
void radix_sort(std::vector<Item>& items, std::vector<Item>& spare, int bits) {
  if (spare.size() < items.size()) spare.resize(items.size());
  sort_many(items.data(), spare.data(), items.size(), bits, false);
}

// The distinct keys of sorted ones, with their counts.
template <class Key>
std::vector<Counted<Key>> count_runs(const std::vector<Key>& sorted) {
  std::vector<Counted<Key>> counts;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    counts.push_back({sorted[i], saturated(end - i)});
    i = end;
  }
  return counts;
}

// Merges both lists; counts of equal k-mers are added.
template <class Key>
std::vector<Counted<Key>> add_counts(const std::vector<Counted<Key>>& one,
                                     const std::vector<Counted<Key>>& other) {
  std::vector<Counted<Key>> sum;
  sum.reserve(one.size() + other.size());
  auto a = one.begin();
  auto b = other.begin();
  while (a != one.end() && b != other.end()) {
    if (a->key < b->key) {
      sum.push_back(*a++);
    } else if (b->key < a->key) {
      sum.push_back(*b++);
    } else {
      sum.push_back({a->key, saturated(std::uint64_t{a->count} + b->count)});
      ++a;
      ++b;
    }
  }
  sum.insert(sum.end(), a, one.end());
  sum.insert(sum.end(), b, other.end());
  return sum;
}

// Counts arriving keys in tiles, each sorted separately. Memory therefore holds one tile and the
// distinct keys.
template <class Key>
class TileCounter {
 public:
  TileCounter(int k, std::size_t tile) : bits_(2 * k), tile_(tile) {}
  void add(Key key) {
    if (keys_.size() == tile_) count_tile();
    keys_.push_back(key);
  }
  // Returns the counts in order of keys, and resets the counter.
  std::vector<Counted<Key>> finish() {
    count_tile();
    return std::exchange(counts_, {});
  }

 private:
  void count_tile() {
    radix_sort(keys_, spare_, bits_);
    auto counts = count_runs(keys_);
    counts_ = counts_.empty() ? std::move(counts) : add_counts(counts_, counts);
    keys_.clear();
  }

  int bits_;
  std::size_t tile_;
  std::vector<Key> keys_;
  std::vector<Key> spare_;
  std::vector<Counted<Key>> counts_;
};

}  // namespace ancify
