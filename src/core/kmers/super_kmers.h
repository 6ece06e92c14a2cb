// Super-k-mers: runs of k-mers that share their minimizer, packed to two bits a base.
#pragma once

#include <algorithm>
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
constexpr std::size_t kMostKmers = 256;  // of a super-k-mer: one byte holds their count minus one

// Cuts stretches into super-k-mers. A k-mer's minimizer is its 10-mer with the smallest hash, on
// the strand where the 10-mer is smaller. Equal k-mers and reverse complements therefore share a
// partition.
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
  int window_;  // candidate 10-mers of a k-mer
  PartWriter& out_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint32_t> hashes_;
};

// A super-k-mer's header; its bases follow, four a byte.
ANCIFY_HOST_DEVICE inline std::size_t kmers_of(const char* super_kmer) {
  return static_cast<std::uint8_t>(*super_kmer) + std::size_t{1};
}
ANCIFY_HOST_DEVICE inline std::size_t super_kmer_bytes(std::size_t kmers, int k) {
  return 1 + (kmers - 1 + static_cast<std::size_t>(k) + 3) / 4;
}

// Calls take(key) for each k-mer of a super-k-mer. `readable`: the number of readable bytes.
template <class Key, class Take>
ANCIFY_HOST_DEVICE void expand_one(const char* super_kmer, std::size_t readable, int k,
                                   bool canonical, Take&& take) {
  const char* const bases = super_kmer + 1;
  const std::size_t n = kmers_of(super_kmer) - 1 + static_cast<std::size_t>(k);
  char start[sizeof(Key)] = {};
  std::memcpy(start, bases, readable - 1 < sizeof start ? readable - 1 : sizeof start);
  RollingKey<Key> rolling(k, first_bases<Key>(start, static_cast<std::size_t>(k)));
  take(rolling.get(canonical));
  for (auto i = static_cast<std::size_t>(k); i < n; ++i) {
    const auto four = static_cast<std::uint8_t>(bases[i / 4]);
    rolling.add(four >> (6 - 2 * (i % 4)) & 3);
    take(rolling.get(canonical));
  }
}

// Calls take(key) for each k-mer of all super-k-mers of a block.
template <class Key, class Take>
void expand(const char* block, std::size_t size, int k, bool canonical, Take&& take) {
  for (const char* const end = block + size; block < end;) {
    expand_one<Key>(block, static_cast<std::size_t>(end - block), k, canonical, take);
    block += super_kmer_bytes(kmers_of(block), k);
  }
}

}  // namespace ancify
