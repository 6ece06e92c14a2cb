// Philox4x32-10, a stateless random number generator (Salmon and others 2011, "Parallel random
// numbers: as easy as 1, 2, 3", SC11). A block is a function of a seed and a counter, so random
// numbers do not depend on the order of draws or on the thread.
#pragma once

#include <array>
#include <cstdint>

namespace ancify {

// 128 random bits.
using PhiloxBlock = std::array<std::uint32_t, 4>;

// The block for this counter. `key` is a seed, its lower half first.
inline PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kFirst = 0xD2511F53;
  constexpr std::uint64_t kSecond = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = kFirst * counter[0];
    const std::uint64_t second = kSecond * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// Block `index` of a stream, such as a probe.
inline PhiloxBlock philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                 static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

}  // namespace ancify
