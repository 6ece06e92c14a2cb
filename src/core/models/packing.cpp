// Packs sequences first fit decreasing, and cuts long ones into windows.
#include "core/models/packing.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ancify {

// Packs are searched by free space: the first pack with a given free space is its oldest, so the
// search covers only the distinct free spaces.
std::vector<std::vector<std::size_t>> pack_by_length(const std::vector<std::int64_t>& lengths,
                                                     std::int64_t budget) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return lengths[one] > lengths[other];
  });
  std::vector<std::vector<std::size_t>> packs;
  std::map<std::int64_t, std::vector<std::size_t>> of_room;  // the oldest pack last
  for (const std::size_t item : order) {
    auto best = of_room.end();
    for (auto at = of_room.lower_bound(lengths[item]); at != of_room.end(); ++at) {
      if (best == of_room.end() || at->second.back() < best->second.back()) best = at;
    }
    std::size_t pack = packs.size();
    std::int64_t room = budget - lengths[item];
    if (best == of_room.end()) {
      packs.emplace_back();
    } else {
      pack = best->second.back();
      room = best->first - lengths[item];
      best->second.pop_back();
      if (best->second.empty()) of_room.erase(best);
    }
    packs[pack].push_back(item);
    // No item is shorter than an empty sequence with its two special tokens.
    if (room < 2) continue;
    std::vector<std::size_t>& same = of_room[room];
    same.insert(std::lower_bound(same.begin(), same.end(), pack, std::greater<>()), pack);
  }
  return packs;
}

std::vector<Window> windows_of(std::size_t sequence, std::int64_t length, std::int64_t most,
                               std::int64_t step) {
  std::vector<Window> windows;
  for (std::int64_t first = 0;; first += step) {
    const bool is_last = first + most >= length;
    const std::int64_t size = std::min(most, length);
    if (is_last) first = length - size;
    std::int64_t own_first = 0;
    if (!windows.empty()) {
      // Between two centres, rounded up: a residue in the middle is taken from the earlier window.
      own_first = (windows.back().first + first + size - 1) / 2 + 1;
      windows.back().own_end = own_first;
    }
    windows.push_back({sequence, first, size, own_first, length});
    if (is_last) return windows;
  }
}

}  // namespace ancify
