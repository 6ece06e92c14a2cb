#include "core/ancestry/site_patterns.h"

#include <algorithm>
#include <array>

#include "core/io/bases_avx512.h"
#include "core/io/packed.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify {

namespace {

// Positions handled at a time, so that their patterns stay in the nearest cache.
constexpr std::size_t kStretch = 4096;

// Bytes of a sequence before this position.
std::size_t bytes_before(SequenceForm form, std::size_t position) {
  return form == SequenceForm::kPacked ? position / 2 : position;
}

template <class Pattern>
ANCIFY_ALWAYS_INLINE void add_state(int state, Pattern weight, Pattern& pattern) {
  pattern = static_cast<Pattern>(pattern + weight * state);
}

template <class Pattern>
ANCIFY_ALWAYS_INLINE void add_states(const char* bases, SequenceForm form, std::size_t n,
                                     Pattern weight, Pattern* patterns) {
  if (form == SequenceForm::kCharacters) {
    std::array<std::uint8_t, kStretch> states;  // bytes first: wider lanes cost more
    for (std::size_t i = 0; i < n; ++i) states[i] = base_code(bases[i]);
    for (std::size_t i = 0; i < n; ++i) add_state(states[i], weight, patterns[i]);
    return;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(bases);
  const std::size_t whole = n / kPackedGroup * kPackedGroup;
  for (std::size_t at = 0; at < whole; at += kPackedGroup, bytes += kPackedHalf) {
    for (std::size_t i = 0; i < kPackedHalf; ++i)
      add_state(bytes[i] & 15, weight, patterns[at + i]);
    for (std::size_t i = 0; i < kPackedHalf; ++i) {
      add_state(bytes[i] >> 4, weight, patterns[at + kPackedHalf + i]);
    }
  }
  for (std::size_t i = whole; i < n; ++i) add_state(packed_code(bases, i), weight, patterns[i]);
}

// By the patterns' numbers.
template <class Pattern>
ANCIFY_ALWAYS_INLINE void apply_numbered(const std::string& table, int n_species,
                                         const char* const* species, SequenceForm form,
                                         std::size_t n, char* calls) {
  std::array<Pattern, kStretch> patterns;
  for (std::size_t start = 0; start < n; start += kStretch) {
    const std::size_t here = std::min(kStretch, n - start);
    std::fill_n(patterns.begin(), here, Pattern{0});
    Pattern weight = 1;
    for (int s = 0; s < n_species; ++s) {
      add_states(species[s] + bytes_before(form, start), form, here, weight, patterns.data());
      weight = static_cast<Pattern>(weight * kStates);
    }
    for (std::size_t i = 0; i < here; ++i) calls[start + i] = table[patterns[i]];
  }
}

ANCIFY_ALWAYS_INLINE void apply_any(const std::string& table, int n_species,
                                    const char* const* species, SequenceForm form, std::size_t n,
                                    char* calls) {
  constexpr int most_in_16_bits = 6;
  if (n_species <= most_in_16_bits) {
    apply_numbered<std::uint16_t>(table, n_species, species, form, n, calls);
  } else {
    apply_numbered<std::uint32_t>(table, n_species, species, form, n, calls);
  }
}

// Up to four species make two numbers below 25, of two species each. The table is laid out in rows
// of 32 calls, one row for each number of the second pair.
constexpr int kMostTiled = 4;
constexpr std::size_t kPairs = std::size_t{kStates} * kStates;
constexpr std::size_t kRow = 32;
// Four rows are the 128 bytes that one instruction of AVX-512 looks up in.
constexpr std::size_t kRowsAtOnce = 4;
constexpr std::size_t kLookups = (kPairs + kRowsAtOnce - 1) / kRowsAtOnce;

#if defined(__x86_64__)

ANCIFY_TARGET_AVX2 void apply_avx2(const std::string& table, int n_species,
                                   const char* const* species, SequenceForm form, std::size_t n,
                                   char* calls) {
  apply_any(table, n_species, species, form, n, calls);
}

// The states of a group's first or second half.
ANCIFY_TARGET_AVX512 inline __m512i load_states(const char* bases, SequenceForm form,
                                                std::size_t at, bool second) {
  if (form == SequenceForm::kPacked) {
    const __m512i bytes = _mm512_loadu_si512(bases + at / 2);
    const __m512i nibbles = second ? _mm512_srli_epi16(bytes, 4) : bytes;
    return _mm512_and_si512(nibbles, _mm512_set1_epi8(15));
  }
  return load_base_codes(bases + at + (second ? kPackedHalf : 0));
}

// first + 5 * second
ANCIFY_TARGET_AVX512 inline __m512i pair_number(__m512i first, __m512i second) {
  return _mm512_add_epi8(first, _mm512_add_epi8(second, _mm512_slli_epi16(second, 2)));
}

ANCIFY_TARGET_AVX512 inline __m512i look_up(const __m512i* tiles, __m512i first_pair,
                                            __m512i second_pair) {
  const __m512i row = _mm512_and_si512(_mm512_slli_epi16(second_pair, 5), _mm512_set1_epi8(0x60));
  const __m512i index = _mm512_or_si512(row, first_pair);
  const __m512i which = _mm512_and_si512(_mm512_srli_epi16(second_pair, 2), _mm512_set1_epi8(7));
  __m512i calls = _mm512_permutex2var_epi8(tiles[0], index, tiles[1]);
  for (std::size_t k = 1; k < kLookups; ++k) {
    const __mmask64 here = _mm512_cmpeq_epi8_mask(which, _mm512_set1_epi8(static_cast<char>(k)));
    calls = _mm512_mask_mov_epi8(calls, here,
                                 _mm512_permutex2var_epi8(tiles[2 * k], index, tiles[2 * k + 1]));
  }
  return calls;
}

// Whole groups of up to four species; gives the positions done.
ANCIFY_TARGET_AVX512 std::size_t apply_tiled(const std::vector<std::uint8_t>& table, int n_species,
                                             const char* const* species, SequenceForm form,
                                             std::size_t n, char* calls) {
  __m512i tiles[2 * kLookups];
  for (std::size_t k = 0; k < 2 * kLookups; ++k) tiles[k] = _mm512_loadu_si512(&table[64 * k]);
  const std::size_t whole = n / kPackedGroup * kPackedGroup;
  for (std::size_t at = 0; at < whole; at += kPackedGroup) {
    for (const bool second : {false, true}) {
      __m512i states[kMostTiled];
      for (int s = 0; s < kMostTiled; ++s) {
        states[s] =
            s < n_species ? load_states(species[s], form, at, second) : _mm512_setzero_si512();
      }
      _mm512_storeu_si512(
          calls + at + (second ? kPackedHalf : 0),
          look_up(tiles, pair_number(states[0], states[1]), pair_number(states[2], states[3])));
    }
  }
  return whole;
}

#endif

}  // namespace

void CallTable::tile() {
  if (species_ > kMostTiled) return;
  tiles_.resize(kLookups * kRowsAtOnce * kRow);
  for (std::size_t pattern = 0; pattern < calls_.size(); ++pattern) {
    tiles_[pattern / kPairs * kRow + pattern % kPairs] = static_cast<std::uint8_t>(calls_[pattern]);
  }
}

void CallTable::apply(const char* const* species, SequenceForm form, std::size_t n, char* calls,
                      SimdLevel level) const {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512 && !tiles_.empty()) {
    const std::size_t done = apply_tiled(tiles_, species_, species, form, n, calls);
    std::array<const char*, kMostTiled> rest;
    for (int s = 0; s < species_; ++s) rest[s] = species[s] + bytes_before(form, done);
    apply_avx2(calls_, species_, rest.data(), form, n - done, calls + done);
    return;
  }
  if (level != SimdLevel::kScalar) {
    apply_avx2(calls_, species_, species, form, n, calls);
    return;
  }
#endif
  (void)level;
  apply_any(calls_, species_, species, form, n, calls);
}

}  // namespace ancify
