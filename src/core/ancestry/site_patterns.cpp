#include "core/ancestry/site_patterns.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ancify {

namespace {

constexpr std::array<std::uint8_t, 256> make_codes() {
  std::array<std::uint8_t, 256> codes{};
  for (int c = 0; c < 256; ++c) {
    codes[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(base_code(static_cast<char>(c)));
  }
  return codes;
}

constexpr std::array<std::uint8_t, 256> kCodes = make_codes();

}  // namespace

void CallTable::apply(const char* const* species, std::size_t n, char* calls) const {
  // One species at a time over a stretch that stays in the cache.
  constexpr std::size_t stretch = 4096;
  std::array<std::uint32_t, stretch> patterns;
  for (std::size_t start = 0; start < n; start += stretch) {
    const std::size_t m = std::min(stretch, n - start);
    std::fill_n(patterns.begin(), m, 0u);
    std::uint32_t weight = 1;
    for (int s = 0; s < species_; ++s, weight *= kStates) {
      const char* bases = species[s] + start;
      for (std::size_t i = 0; i < m; ++i) {
        patterns[i] += weight * kCodes[static_cast<unsigned char>(bases[i])];
      }
    }
    for (std::size_t i = 0; i < m; ++i) calls[start + i] = calls_[patterns[i]];
  }
}

}  // namespace ancify
