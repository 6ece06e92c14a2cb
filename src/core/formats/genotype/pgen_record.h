// Decodes a record of a PGEN file: the main track of hard calls, the track of ALT alleles after the
// first, and the tracks of dosages. Phases are not read.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

// How a record stores calls, in bits 0 to 2 of its type.
enum class PgenTrack : std::uint8_t {
  kAllCalls = 0,      // 2 bits each
  kTwoCalls = 1,      // a bit each for the two most common calls, and a list of others
  kDifferences = 2,   // a list of differences from the last variant of a kind other than 2 and 3
  kSwapped = 3,       // like kDifferences, with 0 and 2 exchanged
  kMostlyZero = 4,    // a list of calls that are not 0
  kReserved = 5,      // unused
  kMostlyTwo = 6,     // a list of calls that are not 2
  kMostlyMissing = 7  // a list of calls that are not missing
};

constexpr PgenTrack pgen_track(std::uint8_t record_type) {
  return static_cast<PgenTrack>(record_type & 7U);
}

// True if a record stores differences from the calls of an earlier record, its base.
constexpr bool needs_base(PgenTrack track) {
  return track == PgenTrack::kDifferences || track == PgenTrack::kSwapped;
}

// True if tracks follow the hard calls, for ALT alleles, phase or dosage.
constexpr bool has_further_tracks(std::uint8_t record_type) { return (record_type & 0xf8U) != 0; }
constexpr bool has_several_alts(std::uint8_t record_type) { return (record_type & 0x08U) != 0; }
constexpr bool has_phases(std::uint8_t record_type) { return (record_type & 0x10U) != 0; }
constexpr bool has_phased_dosages(std::uint8_t record_type) { return (record_type & 0x80U) != 0; }
constexpr bool has_dosages(std::uint8_t record_type) { return (record_type & 0x60U) != 0; }

// The longest valid record, in bytes. A call takes at most 4 bytes for its ALT alleles, 4 for its
// dosages and less than one for its phase.
constexpr std::int64_t longest_pgen_record(std::uint8_t record_type, std::int64_t samples) {
  return has_further_tracks(record_type) ? 12 * samples + 256 : 2 * samples + 64;
}

// Decodes a record of this type to (samples + 3) / 4 bytes of calls. `base` holds the calls of the
// record's base. Returns the problem of a bad record; null if it is valid.
const char* decode_pgen_record(std::uint8_t record_type, std::string_view record,
                               std::int64_t samples, const std::uint8_t* base, std::uint8_t* calls);

// Decodes the copies of ALT allele `alt` of `alts`, from 1 on. `categories` is for the calls
// of decode_pgen_record(), which count all ALT alleles.
const char* decode_pgen_alt(std::uint8_t record_type, std::string_view record, std::int64_t samples,
                            const std::uint8_t* base, std::int64_t alt, std::int64_t alts,
                            std::uint8_t* categories, std::uint8_t* calls);

// Decodes the calls and the dosages of a variant with one ALT allele. A sample without a
// dosage has its call. The unit is kMostUnit, or 1 for a record without dosages.
const char* decode_pgen_dosages(std::uint8_t record_type, std::string_view record,
                                std::int64_t samples, const std::uint8_t* base, std::uint8_t* calls,
                                Dosage* dosages);

}  // namespace ancify
