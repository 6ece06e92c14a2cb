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

// Sorts by the lowest `bits` of the keys, one digit after the other. `spare` is room, and may be
// exchanged with `items`.
template <class Item>
void radix_sort(std::vector<Item>& items, std::vector<Item>& spare, int bits) {
  spare.resize(items.size());
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    const auto digit = [shift](const Item& item) {
      return static_cast<std::size_t>(key_of(item) >> shift) & (kDigits - 1);
    };
    std::array<std::size_t, kDigits> starts{};
    for (const Item& item : items) ++starts[digit(item)];
    if (!items.empty() && starts[digit(items.front())] == items.size()) continue;
    std::size_t sum = 0;
    for (std::size_t& start : starts) sum += std::exchange(start, sum);
    for (const Item& item : items) spare[starts[digit(item)]++] = item;
    std::swap(items, spare);
  }
}

// The different keys of sorted ones, with their numbers.
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

// Both lists as one; counts of equal k-mers are added.
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

// Counts keys as they come, in tiles that are sorted by themselves. So memory is that of a tile and
// of the different keys.
template <class Key>
class TileCounter {
 public:
  TileCounter(int k, std::size_t tile) : bits_(2 * k), tile_(tile) {}
  void add(Key key) {
    if (keys_.size() == tile_) count_tile();
    keys_.push_back(key);
  }
  // The counts in the order of their keys. Then it begins anew.
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
