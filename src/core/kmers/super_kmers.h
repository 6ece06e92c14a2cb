// Super-k-mers: runs of k-mers that share their minimizer, packed to two bits a base.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/kmers/packing.h"
#include "core/kmers/partitions.h"

namespace ancify {

constexpr int kMinimizer = 10;  // bases
constexpr std::size_t kPartitions = 512;

// Cuts stretches into super-k-mers. A k-mer's minimizer is its 10-mer of the smallest hash, on the
// strand where the 10-mer is smaller. So all k-mers that are equal, or reverse complements, get
// into one partition.
class SuperKmerCutter {
 public:
  // k must be above kMinimizer.
  SuperKmerCutter(int k, PartWriter& out) : k_(k), window_(k - kMinimizer + 1), out_(out) {}
  // Cuts all stretches of A, C, G and T in `bases`.
  void cut(std::string_view bases);

 private:
  void cut_stretch(const std::uint8_t* codes, std::size_t n);
  void write(const std::uint8_t* codes, std::size_t kmers, std::uint32_t minimizer);

  int k_;
  int window_;  // minimizers of a k-mer
  PartWriter& out_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint32_t> hashes_;
};

// Calls take(key) for each k-mer of a block of super-k-mers.
template <class Key, class Take>
void expand(const char* block, std::size_t size, int k, bool canonical, Take&& take) {
  for (const char* const end = block + size; block < end;) {
    const std::size_t n = static_cast<std::uint8_t>(*block++) + static_cast<std::size_t>(k);
    std::array<char, sizeof(Key)> start{};
    std::memcpy(start.data(), block, std::min(start.size(), static_cast<std::size_t>(end - block)));
    RollingKey<Key> rolling(k, first_bases<Key>(start.data(), static_cast<std::size_t>(k)));
    take(rolling.get(canonical));
    for (auto i = static_cast<std::size_t>(k); i < n; ++i) {
      const auto bases = static_cast<std::uint8_t>(block[i / 4]);
      rolling.add(bases >> (6 - 2 * (i % 4)) & 3);
      take(rolling.get(canonical));
    }
    block += (n + 3) / 4;
  }
}

}  // namespace ancify
