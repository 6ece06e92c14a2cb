// Finds minimizers in a sliding window.
#include "core/kmers/super_kmers.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ancify {

namespace {

// Each step is invertible, so distinct 10-mers have distinct hashes.
std::uint32_t hash_of(std::uint32_t mer) {
  mer *= 0x9e3779b1U;
  mer ^= mer >> 15;
  mer *= 0x85ebca77U;
  return mer ^ mer >> 13;
}

std::size_t partition_of(std::uint32_t minimizer) {
  // The smallest hashes share most high bits, so a second hash spreads them.
  return (minimizer * 0xc2b2ae3dU) >> 23;
}
static_assert(std::size_t{1} << (32 - 23) == kPartitions);

}  // namespace

void SuperKmerCutter::cut(std::string_view bases) {
  codes_.resize(bases.size() + 1);
  for (std::size_t i = 0; i < bases.size(); ++i) codes_[i] = base_code(bases[i]);
  codes_.back() = kMissing;
  for (std::size_t begin = 0; begin < bases.size();) {
    const void* const missing = std::memchr(codes_.data() + begin, kMissing, codes_.size() - begin);
    const auto end =
        static_cast<std::size_t>(static_cast<const std::uint8_t*>(missing) - codes_.data());
    if (end - begin >= static_cast<std::size_t>(k_)) {
      cut_stretch(codes_.data() + begin, end - begin);
    }
    begin = end + 1;
  }
}

void SuperKmerCutter::cut_stretch(const std::uint8_t* codes, std::size_t n) {
  const std::size_t mers = n - kMinimizer + 1;
  hashes_.resize(mers);
  RollingKey<std::uint32_t> mer(kMinimizer);
  for (std::size_t i = 0; i < kMinimizer - 1; ++i) mer.add(codes[i]);
  for (std::size_t i = 0; i < mers; ++i) {
    mer.add(codes[i + kMinimizer - 1]);
    hashes_[i] = mer.canonical();
  }
  for (std::uint32_t& hash : hashes_) hash = hash_of(hash);

  const auto window = static_cast<std::size_t>(window_);
  const auto smallest_of = [&](std::size_t kmer) {
    const auto begin = hashes_.begin() + static_cast<std::ptrdiff_t>(kmer);
    return static_cast<std::size_t>(std::min_element(begin, begin + window_) - hashes_.begin());
  };
  std::size_t first = 0;  // the first k-mer of the super-k-mer
  std::size_t at = smallest_of(0);
  std::uint32_t minimizer = hashes_[at];
  for (std::size_t kmer = 1; kmer + window <= mers; ++kmer) {
    const std::size_t newest = kmer + window - 1;
    std::size_t next = at;
    if (hashes_[newest] <= minimizer) {
      next = newest;
    } else if (at < kmer) {
      next = smallest_of(kmer);
    }
    if (hashes_[next] != minimizer || kmer - first == kMostKmers) {
      write(codes + first, kmer - first, minimizer);
      first = kmer;
    }
    at = next;
    minimizer = hashes_[at];
  }
  write(codes + first, mers - window + 1 - first, minimizer);
}

void SuperKmerCutter::write(const std::uint8_t* codes, std::size_t kmers, std::uint32_t minimizer) {
  const std::size_t n = kmers - 1 + static_cast<std::size_t>(k_);
  auto* to = reinterpret_cast<std::uint8_t*>(
      out_.room(partition_of(minimizer), super_kmer_bytes(kmers, k_)));
  *to++ = static_cast<std::uint8_t>(kmers - 1);
  const auto pack = [](const std::uint8_t* of) {
    return static_cast<std::uint8_t>(of[0] << 6 | of[1] << 4 | of[2] << 2 | of[3]);
  };
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) *to++ = pack(codes + i);
  if (i == n) return;
  std::array<std::uint8_t, 4> last{};
  std::copy(codes + i, codes + n, last.begin());
  *to = pack(last.data());
}

}  // namespace ancify
