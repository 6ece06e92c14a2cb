// Checks against a slow method that masked calls are missing, and all others as in the file.
#include "core/formats/genotype/masked_genotypes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/exec/errors.h"
#include "core/formats/genotype/memory_genotypes.h"
#include "core/formats/genotype/selected_calls.h"
#include "genotype_files.h"

namespace ancify {
namespace {

// Calls in memory that outlive their GenotypeFile.
struct InMemory {
  std::vector<test::Calls> variants;
  std::string bytes;
  std::int64_t samples;

  InMemory(std::size_t n, std::size_t m, std::mt19937_64& random)
      : samples(static_cast<std::int64_t>(n)) {
    for (std::size_t j = 0; j < m; ++j) {
      variants.push_back(test::random_calls(n, random));
      bytes += test::pack(variants.back());
    }
  }
  std::unique_ptr<GenotypeFile> file() const {
    const GenotypesInMemory calls = {reinterpret_cast<const std::uint8_t*>(bytes.data())};
    return std::make_unique<MemoryGenotypes>("calls", calls, samples,
                                             static_cast<std::int64_t>(variants.size()));
  }
};

bool has(const std::vector<std::int64_t>& numbers, std::int64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// Each of n numbers with probability 1/2.
std::vector<std::int64_t> half_of(std::size_t n, std::mt19937_64& random) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < n; ++i) {
    if (random() % 2 == 0) numbers.push_back(static_cast<std::int64_t>(i));
  }
  return numbers;
}

TEST(MaskedGenotypes, AreThoseOfEachCallByItself) {
  std::mt19937_64 random(1);
  for (const std::size_t n : {1, 2, 3, 4, 5, 31, 32, 33, 65}) {
    const InMemory source(n, 9, random);
    const std::vector<CallMask> masks = {{{1, 2, 8}, half_of(n, random), {}},
                                         {{4}, half_of(n, random), half_of(n, random)}};
    const MaskedGenotypes masked(source.file(), masks);
    std::vector<std::uint8_t> calls(static_cast<std::size_t>(8 * masked.stride()));
    masked.read(1, 8, calls.data());
    for (std::int64_t j = 1; j < 9; ++j) {
      const std::uint8_t* const of_variant = calls.data() + (j - 1) * masked.stride();
      for (std::int64_t i = 0; i < source.samples; ++i) {
        unsigned expected =
            source.variants[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
        for (const CallMask& mask : masks) {
          if (!has(mask.variants, j)) continue;
          const bool is_masked = has(mask.all, i) || (expected == 1 && has(mask.heterozygous, i));
          if (is_masked) expected = kMissingCall;
        }
        ASSERT_EQ(call_at(of_variant, i), expected) << n << " " << j << " " << i;
      }
      // Bits beyond the last sample stay 0.
      for (std::int64_t i = source.samples; i < 4 * masked.stride(); ++i) {
        ASSERT_EQ(call_at(of_variant, i), 0U);
      }
    }
  }
}

TEST(MaskedGenotypes, RefuseIndicesBeyondTheFile) {
  std::mt19937_64 random(1);
  const InMemory source(5, 3, random);
  for (const CallMask& mask : {CallMask{{3}, {}, {}}, CallMask{{-1}, {}, {}}, CallMask{{}, {5}, {}},
                               CallMask{{}, {}, {-1}}}) {
    EXPECT_THROW(MaskedGenotypes(source.file(), {mask}), InputError);
  }
}

}  // namespace
}  // namespace ancify
