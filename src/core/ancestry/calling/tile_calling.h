// Calling on a device: the work of one thread, written once for device and host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/voting.h"
#include "core/genome/bases.h"
#include "core/genome/packed.h"

namespace ancify {

// Positions that a thread calls by table: it loads 16 bytes of each species.
constexpr std::size_t kLane = 16;

// Positions in a device's memory. All pointers, and `pitch`, are multiples of kLane bytes. The
// memory after the last position is read and written up to a whole lane.
struct CallTile {
  const char* bases;  // characters or packed; species s begins at bases + s * pitch
  std::size_t pitch;
  int species;
  bool packed;
  std::size_t n;
  char* calls;
  std::uint8_t* phred;  // null if not wanted

  ANCIFY_HOST_DEVICE std::size_t lanes() const { return (n + kLane - 1) / kLane; }
};

// A byte for each position of a lane, the first in the lowest bits of the first word.
struct LaneBytes {
  static constexpr std::size_t kWords = kLane / sizeof(std::uint32_t);
  std::uint32_t words[kWords];

  ANCIFY_HOST_DEVICE std::uint32_t get(std::size_t i) const {
    return words[i / 4] >> i % 4 * 8 & 255;
  }
  ANCIFY_HOST_DEVICE void add(std::size_t i, std::uint32_t byte) {
    words[i / 4] |= byte << i % 4 * 8;
  }
  ANCIFY_HOST_DEVICE void load(const char* from) {
    std::memcpy(words, __builtin_assume_aligned(from, kLane), kLane);
  }
  ANCIFY_HOST_DEVICE void store(void* to) const {
    std::memcpy(__builtin_assume_aligned(to, kLane), words, kLane);
  }
};

// A one in each byte of a word.
constexpr std::uint32_t kOnes = 0x01010101;

// Four codes, a byte each; kMissing if the byte of `other` is 1, not 0.
ANCIFY_HOST_DEVICE constexpr std::uint32_t codes_or_missing(std::uint32_t codes,
                                                            std::uint32_t other) {
  return (codes & ~(3 * other)) | kMissing * other;
}

// base_code() of four characters at once.
ANCIFY_HOST_DEVICE constexpr std::uint32_t base_codes(std::uint32_t characters) {
  // Two bits distinguish A, C, G and T: A has neither, C the low one, T the high one, G both.
  const std::uint32_t low = characters >> 1 & kOnes;
  const std::uint32_t high = characters >> 2 & kOnes;
  // The base with these bits, and whether the character differs from it, ignoring case.
  const std::uint32_t base =
      kOnes * 'A' + ('C' - 'A') * low + ('T' - 'A') * high - ('T' + 'C' - 'A' - 'G') * (low & high);
  const std::uint32_t differs = (characters & kOnes * 0xdf) ^ base;
  const std::uint32_t other = (((differs & kOnes * 0x7f) + kOnes * 0x7f) | differs) >> 7 & kOnes;
  return codes_or_missing(2 * high + (low ^ high), other);
}

// The codes in the low nibbles of four bytes; any other value is missing.
ANCIFY_HOST_DEVICE constexpr std::uint32_t nibble_codes(std::uint32_t bytes) {
  return codes_or_missing(bytes & kOnes * 3, (bytes >> 2 | bytes >> 3) & kOnes);
}

// The base codes of a species in a lane.
ANCIFY_HOST_DEVICE inline LaneBytes lane_codes(const CallTile& tile, int species,
                                               std::size_t lane) {
  const char* const bases = tile.bases + static_cast<std::size_t>(species) * tile.pitch;
  LaneBytes codes;
  if (tile.packed) {
    constexpr std::size_t half = kPackedHalf / kLane;  // lanes: low nibbles, then high ones
    codes.load(bases + (lane / (2 * half) * half + lane % half) * kLane);
    const int shift = lane % (2 * half) < half ? 0 : 4;
    for (auto& word : codes.words) word = nibble_codes(word >> shift);
  } else {
    codes.load(bases + lane * kLane);
    for (auto& word : codes.words) word = base_codes(word);
  }
  return codes;
}

// The most species whose pattern indices fit in a byte.
constexpr int kMostInByte = 3;

// Calls a lane by a table that has each pattern's call in the low byte and its error in the high
// byte.
ANCIFY_HOST_DEVICE inline void call_by_table(const CallTile& tile, const std::uint16_t* table,
                                             std::size_t lane) {
  std::uint32_t patterns[kLane] = {};
  for (int begin = (tile.species - 1) / kMostInByte * kMostInByte; begin >= 0;
       begin -= kMostInByte) {
    LaneBytes part = {};
    const int end = begin + kMostInByte < tile.species ? begin + kMostInByte : tile.species;
    for (int s = end - 1; s >= begin; --s) {
      const LaneBytes codes = lane_codes(tile, s, lane);
      for (std::size_t w = 0; w < LaneBytes::kWords; ++w) {
        part.words[w] = part.words[w] * kStates + codes.words[w];
      }
    }
    for (std::size_t i = 0; i < kLane; ++i) {
      patterns[i] = patterns[i] * (kStates * kStates * kStates) + part.get(i);
    }
  }
  LaneBytes calls = {};
  LaneBytes phred = {};
  for (std::size_t i = 0; i < kLane; ++i) {
    const std::uint32_t entry = table[patterns[i]];
    calls.add(i, entry & 255);
    phred.add(i, entry >> 8);
  }
  calls.store(tile.calls + lane * kLane);
  if (tile.phred != nullptr) phred.store(tile.phred + lane * kLane);
}

// Calls position i by vote. Votes have no errors.
ANCIFY_HOST_DEVICE inline void call_by_vote(const CallTile& tile, const Voting& voting,
                                            std::size_t i) {
  tile.calls[i] = call_by_vote(voting, [&](int s) -> int {
    const char* const bases = tile.bases + static_cast<std::size_t>(s) * tile.pitch;
    return tile.packed ? packed_code(bases, i) : base_code(bases[i]);
  });
  if (tile.phred != nullptr) tile.phred[i] = kNoPhred;
}

// ---- Operations of a device on a tile -----------------------------------------------------------

// Calls lane by lane.
struct CallByTable {
  static constexpr const char* kName = "CallByTable";
  CallTile tile;
  const std::uint16_t* table;
  std::size_t patterns;

  ANCIFY_HOST_DEVICE std::size_t n() const { return tile.lanes(); }
  ANCIFY_HOST_DEVICE void operator()(std::size_t lane) const { call_by_table(tile, table, lane); }
};

// Calls position by position.
struct CallByVote {
  static constexpr const char* kName = "CallByVote";
  CallTile tile;
  Voting voting;

  ANCIFY_HOST_DEVICE std::size_t n() const { return tile.n; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const { call_by_vote(tile, voting, i); }
};

}  // namespace ancify
