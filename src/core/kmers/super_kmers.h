// Super-k-mers: runs of k-mers that share their minimizer, packed to two bits a base.
#pragma once

#include <cstddef>
#include <cstdint>
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
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(block);
  for (const auto* const end = bytes + size; bytes < end;) {
    const std::size_t n = *bytes++ + static_cast<std::size_t>(k);  // bases
    RollingKey<Key> rolling(k);
    const auto first = static_cast<std::size_t>(k - 1);
    const auto code = [&](std::size_t i) {
      return static_cast<std::uint8_t>(bytes[i / 4] >> (2 * (i % 4)) & 3);
    };
    for (std::size_t i = 0; i < first; ++i) rolling.add(code(i));
    for (std::size_t i = first; i < n; ++i) {
      rolling.add(code(i));
      take(rolling.get(canonical));
    }
    bytes += (n + 3) / 4;
  }
}

}  // namespace ancify
