// Decodes the main track of a record of a PGEN file: the hard calls of a variant.
#pragma once

#include <cstdint>
#include <string_view>

namespace ancify {

// How a record stores calls, in bits 0 to 2 of its type.
enum class PgenTrack : std::uint8_t {
  kAllCalls = 0,      // 2 bits each
  kTwoCalls = 1,      // a bit each for the two commonest, and a list of others
  kDifferences = 2,   // a list of differences from the last variant of another kind than 2 and 3
  kSwapped = 3,       // the same, and then 0 and 2 are exchanged
  kMostlyZero = 4,    // a list of calls that are not 0
  kReserved = 5,      // not in use
  kMostlyTwo = 6,     // a list of calls that are not 2
  kMostlyMissing = 7  // a list of calls that are not missing
};

constexpr PgenTrack pgen_track(std::uint8_t record_type) {
  return static_cast<PgenTrack>(record_type & 7U);
}

// Whether a record says how its calls differ from those of an earlier one, its base.
constexpr bool needs_base(PgenTrack track) {
  return track == PgenTrack::kDifferences || track == PgenTrack::kSwapped;
}

// The number in n bytes, the lowest first.
inline std::int64_t little_endian(const std::uint8_t* bytes, std::int64_t n) {
  std::int64_t value = 0;
  for (std::int64_t i = n - 1; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

// The longest record that may be good, in bytes.
constexpr std::int64_t longest_pgen_record(std::int64_t samples) { return 2 * samples + 64; }

// Decodes a record to (samples + 3) / 4 bytes of calls. `base`: the calls of the record's base.
// Returns what is wrong with a bad record; null if it is good.
const char* decode_pgen_record(PgenTrack track, std::string_view record, std::int64_t samples,
                               const std::uint8_t* base, std::uint8_t* calls);

}  // namespace ancify
