// Decodes probabilities in groups of samples of a fixed size, so that compilers use vectors.
#include "core/formats/genotype/bgen_block.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/exec/errors.h"
#include "core/formats/genotype/call_codes.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/io/little_endian.h"

namespace ancify {

namespace {

constexpr std::size_t kGroupSamples = 64;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr int kMostBits = 32;
constexpr std::uint8_t kMissingBit = 0x80;  // in a sample's byte of ploidy
constexpr std::uint8_t kPloidy = 0x3f;
constexpr std::uint8_t kTwoCopies = 2;

// The parts of a block, which point into its bytes.
struct BlockParts {
  std::size_t samples;
  const std::uint8_t* ploidies;
  bool all_diploid;
  bool phased;
  int bits;
  std::string_view probabilities;

  std::uint64_t scale() const { return (std::uint64_t{1} << bits) - 1; }
  // A sample without copies, such as a female's on Y, is missing too.
  bool is_missing(std::size_t sample) const {
    return ploidies[sample] >= kMissingBit || (ploidies[sample] & kPloidy) == 0;
  }
};

[[noreturn]] void refuse_block(const std::string& problem) { throw InputError(problem); }

bool are_diploid(const std::uint8_t* ploidies, std::size_t n) {
  constexpr std::uint64_t each = 0x0101010101010101;
  std::uint64_t others = 0;
  for (; n >= kWordBytes; n -= kWordBytes, ploidies += kWordBytes) {
    std::uint64_t word;
    std::memcpy(&word, ploidies, kWordBytes);
    others |= (word & each * kPloidy) ^ each * kTwoCopies;
  }
  for (; n > 0; --n, ++ploidies) others |= (*ploidies & kPloidy) ^ kTwoCopies;
  return others == 0;
}

// The number of probabilities in a block: one for each copy of two alleles.
std::size_t count_copies(const BlockParts& block, unsigned least, unsigned most) {
  if (block.all_diploid && least <= kTwoCopies && most >= kTwoCopies)
    return kTwoCopies * block.samples;
  std::size_t copies = 0;
  for (std::size_t i = 0; i < block.samples; ++i) {
    const unsigned ploidy = block.ploidies[i] & kPloidy;
    if (ploidy > kTwoCopies) {
      refuse_block("has " + std::to_string(ploidy) + " copies in sample " + std::to_string(i + 1) +
                   ", but genotypes here have at most two");
    }
    if (ploidy < least || ploidy > most) {
      refuse_block("has a sample with other than " + std::to_string(least) + " to " +
                   std::to_string(most) + " copies");
    }
    copies += ploidy;
  }
  return copies;
}

BlockParts parts_of_block(std::string_view bytes, std::int64_t samples) {
  constexpr std::size_t ploidies_at = 8;
  const auto n = static_cast<std::size_t>(samples);
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const std::size_t rest_at = ploidies_at + n + 2;
  if (bytes.size() < rest_at) refuse_block("has a block that ends too soon");
  if (little_endian(data, 4) != samples) {
    refuse_block("has " + std::to_string(little_endian(data, 4)) + " samples, but the file has " +
                 std::to_string(samples));
  }
  if (little_endian(data + 4, 2) != 2) refuse_block("has another number of alleles in its block");
  const std::uint8_t* const ploidies = data + ploidies_at;
  const unsigned phased = ploidies[n];
  const int bits = ploidies[n + 1];
  if (phased > 1) refuse_block("has an unknown mark of phase");
  if (bits < 1 || bits > kMostBits) {
    refuse_block("has probabilities of " + std::to_string(bits) + " bits, not of 1 to 32");
  }
  const BlockParts block = {n,           ploidies, are_diploid(ploidies, n),
                            phased == 1, bits,     bytes.substr(rest_at)};
  const std::size_t copies = count_copies(block, data[6], data[7]);
  const std::size_t expected = (copies * static_cast<std::size_t>(bits) + 7) / 8;
  if (block.probabilities.size() != expected) {
    refuse_block("has " + std::to_string(block.probabilities.size()) +
                 " bytes of probabilities, not " + std::to_string(expected));
  }
  return block;
}

// ---- Probabilities ------------------------------------------------------------------------------

// Number `index` of the integers of `bits` bits; bytes after the end count as 0.
std::uint64_t integer_at(std::string_view bytes, std::size_t index, int bits) {
  const std::size_t bit = index * static_cast<std::size_t>(bits);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + bit / 8, std::min(kWordBytes, bytes.size() - bit / 8));
  return word >> bit % 8 & ((std::uint64_t{1} << bits) - 1);
}

// The two integers of a diploid sample of a group, which make up a word.
template <class Number, class Word, int bits>
struct WholePair {
  void operator()(const char* group, std::size_t sample, Number& one, Number& two) const {
    Word pair;
    std::memcpy(&pair, group + sample * sizeof(Word), sizeof(Word));
    one = static_cast<Number>(pair & ((1U << bits) - 1));
    two = static_cast<Number>(pair >> bits);
  }
};

struct AnyPair {
  int bits;
  void operator()(const char* group, std::size_t sample, std::uint64_t& one,
                  std::uint64_t& two) const {
    const std::string_view bytes(group, kGroupSamples / 4 * static_cast<std::size_t>(bits));
    one = integer_at(bytes, 2 * sample, bits);
    two = integer_at(bytes, 2 * sample + 1, bits);
  }
};

template <class Number, class Pair>
void check_sums(const BlockParts& block, std::size_t first, std::size_t n, const char* group,
                const Pair& pair) {
  for (std::size_t i = 0; i < n; ++i) {
    Number one;
    Number two;
    pair(group, i, one, two);
    if (one + two <= block.scale() || block.is_missing(first + i)) continue;
    refuse_block("has probabilities that sum to more than 1, in sample " +
                 std::to_string(first + i + 1));
  }
}

// Calls use(first, n, numerators) for groups of samples. Without phase, a sample has the
// probabilities of no copy and of one copy of the second allele. With it, a sample has the
// probability of the first allele, for each copy. `Number` holds four times the scale.
template <class Number, class Pair, class Use>
void for_diploid_groups(const BlockParts& block, const Pair& pair, const Use& use) {
  const std::size_t group_bytes = kGroupSamples / 4 * static_cast<std::size_t>(block.bits);
  const auto scale = static_cast<Number>(block.scale());
  std::array<char, kGroupSamples / 4 * kMostBits> last;
  std::array<Number, kGroupSamples> numerators;
  for (std::size_t first = 0; first < block.samples; first += kGroupSamples) {
    const std::size_t n = std::min(kGroupSamples, block.samples - first);
    const std::size_t at = first / kGroupSamples * group_bytes;
    const char* group = block.probabilities.data() + at;
    if (n < kGroupSamples) {
      last = {};
      std::copy_n(group, block.probabilities.size() - at, last.data());
      group = last.data();
    }
    const Number weight = block.phased ? 1 : 2;
    Number largest_sum = 0;
    for (std::size_t i = 0; i < kGroupSamples; ++i) {
      Number one;
      Number two;
      pair(group, i, one, two);
      numerators[i] = static_cast<Number>(2 * scale - weight * one - two);
      largest_sum = std::max(largest_sum, static_cast<Number>(one + two));
    }
    if (!block.phased && largest_sum > scale) check_sums<Number>(block, first, n, group, pair);
    use(first, n, numerators.data());
  }
}

// As above, for samples of at most two copies.
template <class Use>
void for_mixed_groups(const BlockParts& block, const Use& use) {
  const std::uint64_t scale = block.scale();
  std::array<std::uint64_t, kGroupSamples> numerators;
  std::size_t at = 0;
  const auto next = [&] { return integer_at(block.probabilities, at++, block.bits); };
  for (std::size_t first = 0; first < block.samples; first += kGroupSamples) {
    const std::size_t n = std::min(kGroupSamples, block.samples - first);
    for (std::size_t i = 0; i < n; ++i) {
      const unsigned ploidy = block.ploidies[first + i] & kPloidy;
      if (ploidy == 0) {
        numerators[i] = 0;
        continue;
      }
      const bool haploid = ploidy == 1;
      const std::uint64_t one = next();
      const std::uint64_t two = haploid ? 0 : next();
      if (one + two > scale && !block.phased && !block.is_missing(first + i)) {
        refuse_block("has probabilities that sum to more than 1, in sample " +
                     std::to_string(first + i + 1));
      }
      numerators[i] = 2 * scale - (haploid || !block.phased ? 2 : 1) * one - two;
    }
    use(first, n, numerators.data());
  }
}

template <class Use>
void for_each_group(const BlockParts& block, const Use& use) {
  if (!block.all_diploid) return for_mixed_groups(block, use);
  if (block.bits == 8) {
    return for_diploid_groups<std::uint16_t>(block, WholePair<std::uint16_t, std::uint16_t, 8>(),
                                             use);
  }
  if (block.bits == 16) {
    return for_diploid_groups<std::uint32_t>(block, WholePair<std::uint32_t, std::uint32_t, 16>(),
                                             use);
  }
  for_diploid_groups<std::uint64_t>(block, AnyPair{block.bits}, use);
}

// ---- Calls --------------------------------------------------------------------------------------

// The numerators that are near enough to 0, 1 and 2 copies.
template <class Number>
struct CallRule {
  CallRule(std::uint64_t one_copy, double threshold)
      : scale(static_cast<Number>(one_copy)),
        limit(limit_of(one_copy, threshold)),
        one_from(static_cast<Number>(scale - limit)),
        one_width(static_cast<Number>(2 * limit)),
        two_from(static_cast<Number>(2 * scale - limit)),
        calls_all(threshold >= 0.5) {}

  // 0.1 of a scale may be rounded to less, as in PLINK 2.
  static Number limit_of(std::uint64_t scale, double threshold) {
    constexpr double rounded_up = 1 + 1.0 / (std::uint64_t{1} << 44);
    return static_cast<Number>(threshold * static_cast<double>(scale) * rounded_up);
  }

  std::uint8_t operator()(Number numerator) const {
    const auto zero = static_cast<Number>(numerator <= limit);
    const auto one = static_cast<Number>(static_cast<Number>(numerator - one_from) <= one_width);
    const auto two = static_cast<Number>(numerator >= two_from);
    return static_cast<std::uint8_t>(kMissingCall - 3 * zero - 2 * one - two);
  }

  std::uint8_t of_haploid(Number numerator) const {
    // The scale is odd and the numerator even, so one of the two is nearer.
    if (!calls_all && numerator > limit && numerator < two_from) return kMissingCall;
    return numerator > scale ? 2 : 0;
  }

  Number scale;
  Number limit;
  Number one_from;
  Number one_width;
  Number two_from;
  bool calls_all;
};

// Packs the calls of a group, a byte each, to 2 bits.
void pack_group(const std::uint8_t* calls, std::uint8_t* packed) {
  for (std::size_t i = 0; i < kGroupSamples / 4; ++i) {
    std::uint32_t four;
    std::memcpy(&four, calls + 4 * i, sizeof(four));
    packed[i] = static_cast<std::uint8_t>(four * 0x01041040U >> 24);
  }
}

template <class Number>
void call_diploid_group(const CallRule<Number>& rule, const Number* numerators,
                        const std::uint8_t* ploidies, std::uint8_t* packed) {
  std::array<std::uint8_t, kGroupSamples> calls;
  for (std::size_t i = 0; i < kGroupSamples; ++i) {
    const unsigned missing = kMissingCall * (ploidies[i] / kMissingBit);
    calls[i] = static_cast<std::uint8_t>(rule(numerators[i]) | missing);
  }
  pack_group(calls.data(), packed);
}

template <class Number>
void call_mixed_group(const CallRule<Number>& rule, const Number* numerators,
                      const std::uint8_t* ploidies, std::size_t n, std::uint8_t* packed) {
  std::array<std::uint8_t, kGroupSamples> calls = {};
  for (std::size_t i = 0; i < n; ++i) {
    const bool haploid = (ploidies[i] & kPloidy) == 1;
    const std::uint8_t call = haploid ? rule.of_haploid(numerators[i]) : rule(numerators[i]);
    const bool missing = ploidies[i] >= kMissingBit || (ploidies[i] & kPloidy) == 0;
    calls[i] = missing ? std::uint8_t{kMissingCall} : call;
  }
  pack_group(calls.data(), packed);
}

// The nearest dosage in units of kMostUnit. The numerator of a missing sample may be any number.
Dosage rounded_dosage(std::uint64_t numerator, std::uint64_t scale) {
  const std::uint64_t steps = (numerator * kMostUnit + scale / 2) / scale;
  return static_cast<Dosage>(
      static_cast<int>(std::min<std::uint64_t>(steps, std::uint64_t{2} * kMostUnit)) - kMostUnit);
}

}  // namespace

int dose_bgen_block(std::string_view block, std::int64_t samples, Dosage* dosages) {
  const BlockParts parts = parts_of_block(block, samples);
  const std::uint64_t scale = parts.scale();
  const bool exact = scale <= kMostUnit;
  for_each_group(parts, [&](std::size_t first, std::size_t n, const auto* numerators) {
    Dosage* const out = dosages + first;
    if (exact) {
      const int one_copy = static_cast<int>(scale);
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = static_cast<Dosage>(static_cast<int>(numerators[i]) - one_copy);
      }
    } else {
      for (std::size_t i = 0; i < n; ++i) out[i] = rounded_dosage(numerators[i], scale);
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (parts.is_missing(first + i)) out[i] = kMissingDosage;
    }
  });
  return exact ? static_cast<int>(scale) : kMostUnit;
}

void call_bgen_block(std::string_view block, std::int64_t samples, double threshold,
                     std::uint8_t* calls) {
  const BlockParts parts = parts_of_block(block, samples);
  for_each_group(parts, [&](std::size_t first, std::size_t n, const auto* numerators) {
    using Number = std::decay_t<decltype(*numerators)>;
    const CallRule<Number> rule(parts.scale(), threshold);
    std::array<std::uint8_t, kGroupSamples / 4> packed;
    if (parts.all_diploid && n == kGroupSamples) {
      call_diploid_group(rule, numerators, parts.ploidies + first, packed.data());
    } else {
      call_mixed_group(rule, numerators, parts.ploidies + first, n, packed.data());
    }
    std::copy_n(packed.data(), (n + 3) / 4, calls + first / 4);
  });
}

}  // namespace ancify
