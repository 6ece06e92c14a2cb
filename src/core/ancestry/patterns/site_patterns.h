// Site patterns as indices, and tables that give a method's result by pattern index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/device/simd.h"
#include "core/genome/bases.h"
#include "core/genome/sequence_source.h"

namespace ancify {

// The most species for which all patterns are tabulated: 5^8 calls fit a core's own cache.
constexpr int kMostTabulated = 8;

// The same n positions of all species. Packed sequences must start at a multiple of kPackedGroup.
struct Sites {
  const char* const* species;
  SequenceForm form;
  std::size_t n;
};

// 5^species
constexpr std::size_t number_of_patterns(int species) {
  return species == 0 ? 1 : kStates * number_of_patterns(species - 1);
}

// The most species whose pattern numbers fit 16 bits.
constexpr int kMostIn16Bits = 6;

// Positions whose pattern numbers stay in the nearest cache; whole groups.
constexpr std::size_t kNumberedAtOnce = 4096;

// Writes the pattern numbers of the n positions from `start` on, a multiple of kPackedGroup: sums
// over species s of state(s) * 5^s. At most kMostIn16Bits or kMostTabulated species.
void number_patterns(int n_species, const Sites& sites, std::size_t start, std::size_t n,
                     SimdLevel level, std::uint16_t* numbers);
void number_patterns(int n_species, const Sites& sites, std::size_t start, std::size_t n,
                     SimdLevel level, std::uint32_t* numbers);

// Writes the batch of the n positions from `start` on, at most kBatchSites. `start` is a multiple
// of kBatchSites.
void make_batch(int n_species, const Sites& sites, std::size_t start, std::size_t n,
                SimdLevel level, std::uint8_t* states);

// Writes the states of the pattern with this number, one a species.
void states_of_pattern(std::size_t number, int n_species, int* states);

// A byte for each pattern of at most kMostTabulated species.
class ByteTable {
 public:
  ByteTable(int species, std::string bytes);
  // Writes the byte of each site's pattern.
  void apply(const Sites& sites, char* out, SimdLevel level) const;
  const std::string& bytes() const { return bytes_; }

 private:
  int species_;
  std::string bytes_;
  std::string tiles_;  // these bytes in rows for AVX-512; empty for more than four species
};

// A method's calls and, if asked for, phred-scaled errors, of all patterns.
class CallTable {
 public:
  CallTable(const Method& method, bool with_phred);
  // Writes a call and, unless `phred` is null, an error_phred() for each site. `phred` must be null
  // unless the table was made with it.
  void apply(const Sites& sites, char* calls, std::uint8_t* phred, SimdLevel level) const;
  const ByteTable& calls() const { return *calls_; }
  const ByteTable* phred() const { return phred_ ? &*phred_ : nullptr; }

 private:
  std::optional<ByteTable> calls_;
  std::optional<ByteTable> phred_;
};

// Patterns of any number of species as keys: as many 64-bit words as their states need.
class PatternKeys {
 public:
  explicit PatternKeys(int n_species);
  std::size_t words() const { return words_; }
  // Calls take(start, n, keys) for stretches of the positions. `keys` holds the n keys from
  // position `start` on.
  template <class Take>
  void for_each_stretch(const Sites& sites, SimdLevel level, Take take) const {
    std::vector<std::uint64_t> keys(kStretch * words_);
    for (std::size_t start = 0; start < sites.n; start += kStretch) {
      const std::size_t n = make(sites, start, level, keys.data());
      take(start, n, keys.data());
    }
  }
  // Writes the states of the pattern with this key, one a species.
  void states(const std::uint64_t* key, int* states) const;

  static constexpr std::size_t kStretch = 1024;

 private:
  std::size_t make(const Sites& sites, std::size_t start, SimdLevel level,
                   std::uint64_t* keys) const;

  int n_species_;
  std::size_t words_;
};

// The place of a key in a hash table of 2^bits slots.
inline std::size_t hash_of_key(const std::uint64_t* key, std::size_t words, int bits) {
  std::uint64_t hash = 0;
  for (std::size_t w = 0; w < words; ++w) {
    hash = (hash ^ key[w]) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
  }
  return static_cast<std::size_t>((hash * 0x9e3779b97f4a7c15U) >> (64 - bits));
}

}  // namespace ancify
