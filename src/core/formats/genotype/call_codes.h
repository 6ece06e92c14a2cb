// Converts bytes of four 2-bit codes, from BED's codes to calls, and from one allele's calls to the
// other's. All functions work on whole words, so that compilers use vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ancify {

constexpr std::uint64_t kLowBits = 0x5555555555555555;
constexpr std::uint64_t kHighBits = kLowBits << 1;

// BED stores 00 for two copies of A1, 10 for one, 11 for none and 01 for a missing call.
constexpr std::uint64_t bed_as_calls(std::uint64_t codes) {
  return codes ^ kHighBits ^ (codes >> 1 & kLowBits);
}
constexpr std::uint64_t calls_as_bed(std::uint64_t calls) {
  return ~(calls ^ (calls >> 1 & kLowBits));
}

// Exchanges 0 and 2.
constexpr std::uint64_t calls_of_other_allele(std::uint64_t calls) {
  return calls ^ (~calls & kLowBits) << 1;
}

// Replaces calls other than a missing one by 0.
constexpr std::uint64_t missing_calls_alone(std::uint64_t calls) {
  const std::uint64_t is_missing = calls & calls >> 1 & kLowBits;
  return is_missing | is_missing << 1;
}

// Replaces n bytes of codes by convert(word).
template <class Convert>
void convert_codes(std::uint8_t* codes, std::size_t n, Convert convert) {
  constexpr std::size_t size = sizeof(std::uint64_t);
  std::uint64_t word = 0;
  for (; n >= size; n -= size, codes += size) {
    std::memcpy(&word, codes, size);
    word = convert(word);
    std::memcpy(codes, &word, size);
  }
  std::memcpy(&word, codes, n);
  word = convert(word);
  std::memcpy(codes, &word, n);
}

// Sets the codes after the last of `samples` to 0, in the last byte of a variant.
inline void clear_padding(std::uint8_t* calls, std::int64_t samples) {
  const int used = static_cast<int>(samples % 4);
  if (used > 0) calls[samples / 4] &= static_cast<std::uint8_t>((1U << 2 * used) - 1);
}

}  // namespace ancify
