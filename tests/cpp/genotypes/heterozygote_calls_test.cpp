// Calls and heterozygosity, beside single calls.
#include "core/formats/genotype/heterozygote_calls.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/formats/genotype/selected_calls.h"
#include "genotypes/memory_genotypes.h"

namespace ancify {
namespace {

TEST(HeterozygoteCalls, FollowTheCallsOfEachVariant) {
  constexpr std::int64_t kSamples = 11;
  constexpr std::int64_t kVariants = 6;
  const Calls calls = Calls::random(kSamples, kVariants, 0.1, 3);
  const MemoryGenotypes plain(calls);
  const HeterozygoteCalls both(std::make_unique<MemoryGenotypes>(calls));
  EXPECT_EQ(both.samples(), kSamples);
  EXPECT_EQ(both.variants(), 2 * kVariants);
  std::vector<std::uint8_t> expected(static_cast<std::size_t>(kVariants * plain.stride()));
  plain.read(0, kVariants, expected.data());
  for (std::int64_t first = 0; first < both.variants(); ++first) {
    for (std::int64_t n = 0; first + n <= both.variants(); ++n) {
      std::vector<std::uint8_t> found(static_cast<std::size_t>(n * both.stride()));
      both.read(first, n, found.data());
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t variant = first + j;
        for (std::int64_t i = 0; i < kSamples; ++i) {
          const unsigned call = call_at(expected.data() + variant / 2 * plain.stride(), i);
          const bool is_homozygote = call == 0 || call == 2;
          const unsigned heterozygosity = is_homozygote ? 0 : call;
          EXPECT_EQ(call_at(found.data() + j * both.stride(), i),
                    variant % 2 == 0 ? call : heterozygosity);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ancify
