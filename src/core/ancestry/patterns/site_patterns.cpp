// Numbers site patterns as sum over species s of state(s) * 5^s, and looks results up by this
// number. There is a version for each level of vector instructions.
#include "core/ancestry/patterns/site_patterns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/genome/bases_avx512.h"
#include "core/genome/packed.h"

namespace ancify {

namespace {

constexpr std::size_t kStretch = kNumberedAtOnce;

template <class Pattern>
ANCIFY_ALWAYS_INLINE void add_state(int state, Pattern weight, Pattern& pattern) {
  pattern = static_cast<Pattern>(pattern + weight * state);
}

template <class Pattern>
ANCIFY_ALWAYS_INLINE void add_states(const char* bases, SequenceForm form, std::size_t n,
                                     Pattern weight, Pattern* patterns) {
  if (form == SequenceForm::kCharacters) {
    std::array<std::uint8_t, kStretch> states;  // in bytes first, because wider lanes cost more
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

// The pattern numbers of species `begin` to `end` - 1, at n positions from `start` on.
template <class Pattern>
ANCIFY_ALWAYS_INLINE void add_species(const char* const* species, int begin, int end,
                                      SequenceForm form, std::size_t start, std::size_t n,
                                      Pattern* patterns) {
  std::fill_n(patterns, n, Pattern{0});
  Pattern weight = 1;
  for (int s = begin; s < end; ++s) {
    add_states(species[s] + bytes_before(form, start), form, n, weight, patterns);
    weight = static_cast<Pattern>(weight * kStates);
  }
}

// Looks up four patterns per step: in steps of one, counting takes half of the time.
template <class Pattern>
ANCIFY_ALWAYS_INLINE void look_up_all(const char* results, const Pattern* patterns, std::size_t n,
                                      char* out) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    out[i] = results[patterns[i]];
    out[i + 1] = results[patterns[i + 1]];
    out[i + 2] = results[patterns[i + 2]];
    out[i + 3] = results[patterns[i + 3]];
  }
  for (; i < n; ++i) out[i] = results[patterns[i]];
}

template <class Pattern>
ANCIFY_ALWAYS_INLINE void apply_numbered(const std::string& table, int n_species,
                                         const char* const* species, SequenceForm form,
                                         std::size_t n, char* out) {
  const char* const results = table.data();  // for compilers, stores to `out` may change `table`
  std::array<Pattern, kStretch> patterns;
  for (std::size_t start = 0; start < n; start += kStretch) {
    const std::size_t here = std::min(kStretch, n - start);
    add_species(species, 0, n_species, form, start, here, patterns.data());
    look_up_all(results, patterns.data(), here, out + start);
  }
}

ANCIFY_ALWAYS_INLINE void apply_any(const std::string& table, int n_species,
                                    const char* const* species, SequenceForm form, std::size_t n,
                                    char* out) {
  if (n_species <= kMostIn16Bits) {
    apply_numbered<std::uint16_t>(table, n_species, species, form, n, out);
  } else {
    apply_numbered<std::uint32_t>(table, n_species, species, form, n, out);
  }
}

// Up to four species make two pair numbers below 25, one for two species each. The table has a row
// of 32 bytes for each number of the second pair.
constexpr int kMostTiled = 4;
constexpr std::size_t kPairs = std::size_t{kStates} * kStates;
constexpr std::size_t kRow = 32;
// One AVX-512 instruction looks up in 128 bytes, four rows.
constexpr std::size_t kRowsAtOnce = 4;
constexpr std::size_t kLookups = (kPairs + kRowsAtOnce - 1) / kRowsAtOnce;

#if defined(__x86_64__)

// first + 5 * second
ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE __m256i pair_number(__m256i first, __m256i second) {
  return _mm256_add_epi8(first, _mm256_add_epi8(second, _mm256_slli_epi16(second, 2)));
}

// Pattern numbers of 32 positions, from their pair numbers.
ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE void join_pairs(__m256i first, __m256i second,
                                                        std::uint16_t* patterns) {
  const __m256i weights = _mm256_set1_epi16(static_cast<short>(kPairs << 8 | 1));
  const __m256i low = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(first, second), weights);
  const __m256i high = _mm256_maddubs_epi16(_mm256_unpackhi_epi8(first, second), weights);
  auto* const out = reinterpret_cast<__m256i*>(patterns);
  _mm256_storeu_si256(out, _mm256_permute2x128_si256(low, high, 0x20));
  _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(low, high, 0x31));
}

// Pattern numbers of at most four packed species, for n positions of whole groups from `start` on.
ANCIFY_TARGET_AVX2 void number_groups(const char* const* species, int n_species, std::size_t start,
                                      std::size_t n, std::uint16_t* patterns) {
  const __m256i nibble = _mm256_set1_epi8(15);
  for (std::size_t at = 0; at < n; at += kPackedHalf) {  // 32 bytes have 64 positions
    const std::size_t byte = bytes_before(SequenceForm::kPacked, start + at);
    __m256i low[kMostTiled];
    __m256i high[kMostTiled];
    for (int s = 0; s < kMostTiled; ++s) {
      const __m256i bytes =
          s < n_species ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(species[s] + byte))
                        : _mm256_setzero_si256();
      low[s] = _mm256_and_si256(bytes, nibble);
      high[s] = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
    }
    // A group's first and second 32 bytes
    std::uint16_t* const out = patterns + at / kPackedGroup * kPackedGroup + at % kPackedGroup / 2;
    join_pairs(pair_number(low[0], low[1]), pair_number(low[2], low[3]), out);
    join_pairs(pair_number(high[0], high[1]), pair_number(high[2], high[3]), out + kPackedHalf);
  }
}

ANCIFY_TARGET_AVX2 void apply_avx2(const std::string& table, int n_species,
                                   const char* const* species, SequenceForm form, std::size_t n,
                                   char* calls) {
  if (n_species > kMostTiled || form != SequenceForm::kPacked) {
    apply_any(table, n_species, species, form, n, calls);
    return;
  }
  std::array<std::uint16_t, kStretch> patterns;
  for (std::size_t start = 0; start < n; start += kStretch) {
    const std::size_t here = std::min(kStretch, n - start);
    const std::size_t whole = here / kPackedGroup * kPackedGroup;
    number_groups(species, n_species, start, whole, patterns.data());
    add_species(species, 0, n_species, form, start + whole, here - whole, patterns.data() + whole);
    look_up_all(table.data(), patterns.data(), here, calls + start);
  }
}

// The states of the first or second half of a group.
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

// Looks up whole groups, for at most four species; returns the number of positions done.
ANCIFY_TARGET_AVX512 std::size_t apply_tiled(const std::string& table, int n_species,
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

// A key's 64-bit word holds four 16-bit pattern numbers of kMostIn16Bits species each.
constexpr int kPartBits = 16;
constexpr int kSpeciesPerWord = 64 / kPartBits * kMostIn16Bits;

ANCIFY_ALWAYS_INLINE void make_keys(const Sites& sites, int n_species, std::size_t start,
                                    std::size_t n, std::size_t words, std::uint64_t* keys) {
  std::array<std::uint16_t, PatternKeys::kStretch> part;
  for (int begin = 0; begin < n_species; begin += kMostIn16Bits) {
    add_species(sites.species, begin, std::min(begin + kMostIn16Bits, n_species), sites.form, start,
                n, part.data());
    std::uint64_t* const word = keys + begin / kSpeciesPerWord;
    const int shift = begin % kSpeciesPerWord / kMostIn16Bits * kPartBits;
    if (words == 1) {  // the usual case, in vectors
      for (std::size_t i = 0; i < n; ++i) word[i] |= std::uint64_t{part[i]} << shift;
    } else {
      for (std::size_t i = 0; i < n; ++i) word[i * words] |= std::uint64_t{part[i]} << shift;
    }
  }
}

static_assert(kBatchSites % kPackedGroup == 0, "batches have whole groups");

ANCIFY_ALWAYS_INLINE void make_rows(int n_species, const Sites& sites, std::size_t start,
                                    std::size_t n, std::uint8_t* states) {
  // Processors do not foresee the next batch in so many sequences.
  const std::size_t next = bytes_before(sites.form, start + kBatchSites);
  for (int s = 0; s < n_species; ++s) __builtin_prefetch(sites.species[s] + next);
  for (int s = 0; s < n_species; ++s) {
    std::uint8_t* const row = states + static_cast<std::size_t>(s) * kBatchSites;
    add_species(sites.species, s, s + 1, sites.form, start, n, row);
    std::fill_n(row + n, kBatchSites - n, std::uint8_t{kMissing});
  }
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 void make_rows_avx2(int n_species, const Sites& sites, std::size_t start,
                                       std::size_t n, std::uint8_t* states) {
  make_rows(n_species, sites, start, n, states);
}
template <class Number>
ANCIFY_TARGET_AVX2 void add_species_avx2(int n_species, const Sites& sites, std::size_t start,
                                         std::size_t n, Number* numbers) {
  add_species(sites.species, 0, n_species, sites.form, start, n, numbers);
}
ANCIFY_TARGET_AVX2 void make_keys_avx2(const Sites& sites, int n_species, std::size_t start,
                                       std::size_t n, std::size_t words, std::uint64_t* keys) {
  make_keys(sites, n_species, start, n, words, keys);
}
#endif

template <class Number>
void number(int n_species, const Sites& sites, std::size_t start, std::size_t n, SimdLevel level,
            Number* numbers) {
#if defined(__x86_64__)
  if (level != SimdLevel::kScalar) {
    add_species_avx2(n_species, sites, start, n, numbers);
    return;
  }
#endif
  (void)level;
  add_species(sites.species, 0, n_species, sites.form, start, n, numbers);
}

std::string in_tiles(const std::string& bytes) {
  std::string tiles(kLookups * kRowsAtOnce * kRow, '\0');
  for (std::size_t pattern = 0; pattern < bytes.size(); ++pattern) {
    tiles[pattern / kPairs * kRow + pattern % kPairs] = bytes[pattern];
  }
  return tiles;
}

}  // namespace

void number_patterns(int n_species, const Sites& sites, std::size_t start, std::size_t n,
                     SimdLevel level, std::uint16_t* numbers) {
  number(n_species, sites, start, n, level, numbers);
}

void number_patterns(int n_species, const Sites& sites, std::size_t start, std::size_t n,
                     SimdLevel level, std::uint32_t* numbers) {
  number(n_species, sites, start, n, level, numbers);
}

void make_batch(int n_species, const Sites& sites, std::size_t start, std::size_t n,
                SimdLevel level, std::uint8_t* states) {
#if defined(__x86_64__)
  if (level != SimdLevel::kScalar) {
    make_rows_avx2(n_species, sites, start, n, states);
    return;
  }
#endif
  (void)level;
  make_rows(n_species, sites, start, n, states);
}

void states_of_pattern(std::size_t number, int n_species, int* states) {
  for (int s = 0; s < n_species; ++s, number /= kStates) {
    states[s] = static_cast<int>(number % kStates);
  }
}

ByteTable::ByteTable(int species, std::string bytes) : species_(species), bytes_(std::move(bytes)) {
  if (species <= kMostTiled) tiles_ = in_tiles(bytes_);
}

void ByteTable::apply(const Sites& sites, char* out, SimdLevel level) const {
  const auto& [species, form, n] = sites;
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512 && !tiles_.empty()) {
    const std::size_t done = apply_tiled(tiles_, species_, species, form, n, out);
    std::array<const char*, kMostTiled> rest;
    for (int s = 0; s < species_; ++s) rest[s] = species[s] + bytes_before(form, done);
    apply_avx2(bytes_, species_, rest.data(), form, n - done, out + done);
    return;
  }
  if (level != SimdLevel::kScalar) {
    apply_avx2(bytes_, species_, species, form, n, out);
    return;
  }
#endif
  (void)level;
  apply_any(bytes_, species_, species, form, n, out);
}

CallTable::CallTable(const Method& method, bool with_phred) {
  const int species = method.species();
  std::string calls(number_of_patterns(species), 'N');
  std::string phred(with_phred ? calls.size() : 0, '\0');
  std::vector<int> pattern(static_cast<std::size_t>(species));
  std::vector<std::uint8_t> states(pattern.size() * kBatchSites);
  std::array<SiteCall, kBatchSites> sites;
  for (std::size_t first = 0; first < calls.size(); first += kBatchSites) {
    const std::size_t n = std::min(kBatchSites, calls.size() - first);
    for (std::size_t i = 0; i < n; ++i) {
      states_of_pattern(first + i, species, pattern.data());
      for (std::size_t s = 0; s < pattern.size(); ++s) {
        states[s * kBatchSites + i] = static_cast<std::uint8_t>(pattern[s]);
      }
    }
    method.call_batch(states.data(), n, SimdLevel::kScalar, sites.data());
    for (std::size_t i = 0; i < n; ++i) {
      calls[first + i] = sites[i].call;
      if (with_phred) phred[first + i] = static_cast<char>(error_phred(sites[i]));
    }
  }
  calls_.emplace(species, std::move(calls));
  if (with_phred) phred_.emplace(species, std::move(phred));
}

void CallTable::apply(const Sites& sites, char* calls, std::uint8_t* phred, SimdLevel level) const {
  calls_->apply(sites, calls, level);
  if (phred != nullptr) phred_->apply(sites, reinterpret_cast<char*>(phred), level);
}

PatternKeys::PatternKeys(int n_species)
    : n_species_(n_species),
      words_(static_cast<std::size_t>((n_species + kSpeciesPerWord - 1) / kSpeciesPerWord)) {}

std::size_t PatternKeys::make(const Sites& sites, std::size_t start, SimdLevel level,
                              std::uint64_t* keys) const {
  const std::size_t n = std::min(kStretch, sites.n - start);
  std::fill_n(keys, n * words_, std::uint64_t{0});
#if defined(__x86_64__)
  if (level != SimdLevel::kScalar) {
    make_keys_avx2(sites, n_species_, start, n, words_, keys);
    return n;
  }
#endif
  (void)level;
  make_keys(sites, n_species_, start, n, words_, keys);
  return n;
}

void PatternKeys::states(const std::uint64_t* key, int* states) const {
  for (int begin = 0; begin < n_species_; begin += kMostIn16Bits) {
    const int shift = begin % kSpeciesPerWord / kMostIn16Bits * kPartBits;
    states_of_pattern(key[begin / kSpeciesPerWord] >> shift & 0xffff,
                      std::min(kMostIn16Bits, n_species_ - begin), states + begin);
  }
}

}  // namespace ancify
