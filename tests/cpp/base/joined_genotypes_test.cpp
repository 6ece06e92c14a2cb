// The genotypes of several files against a single file's.
#include "core/formats/genotype/joined_genotypes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>

#include "core/exec/errors.h"
#include "genotype_files.h"
#include "support.h"

namespace ancify {
namespace {

using test::Calls;
using test::pack;
using test::TempDir;

class JoinedGenotypesTest : public ::testing::Test {
 protected:
  // A file of these variants, whose sample i is sample order[i] of the set.
  GenotypePart part(const std::vector<Calls>& variants, const std::vector<std::int64_t>& order) {
    std::vector<Calls> stored;
    std::vector<std::int64_t> samples(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      samples[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    }
    for (const Calls& calls : variants) {
      Calls of_file;
      for (const std::int64_t i : order) of_file.push_back(calls[static_cast<std::size_t>(i)]);
      stored.push_back(of_file);
    }
    const std::string path = dir_.write("x" + std::to_string(++files_), test::bed_file(stored));
    return {open_genotype_file(path, static_cast<std::int64_t>(order.size()),
                               static_cast<std::int64_t>(variants.size())),
            std::is_sorted(order.begin(), order.end()) ? std::vector<std::int64_t>() : samples};
  }

  TempDir dir_;
  int files_ = 0;
};

std::string read(const GenotypeFile& file, std::int64_t first, std::int64_t n) {
  std::string calls(static_cast<std::size_t>(n * file.stride()), '\x5a');
  file.read(first, n, reinterpret_cast<std::uint8_t*>(calls.data()));
  return calls;
}

TEST_F(JoinedGenotypesTest, HaveTheVariantsOfAllFilesInOneOrderOfSamples) {
  std::mt19937_64 random(1);
  for (const std::size_t samples : {1, 3, 4, 9, 70}) {
    std::vector<GenotypePart> parts;
    std::string expected;
    for (const int variants : {5, 1, 40}) {
      std::vector<Calls> calls;
      for (int j = 0; j < variants; ++j) {
        calls.push_back(test::random_calls(samples, random));
        expected += pack(calls.back());
      }
      std::vector<std::int64_t> order(samples);
      for (std::size_t i = 0; i < samples; ++i) order[i] = static_cast<std::int64_t>(i);
      if (variants > 1) std::shuffle(order.begin(), order.end(), random);
      parts.push_back(part(calls, order));
    }
    const JoinedGenotypes joined(std::move(parts));
    ASSERT_EQ(joined.variants(), 46);
    ASSERT_EQ(joined.samples(), static_cast<std::int64_t>(samples));
    const auto stride = static_cast<std::size_t>(joined.stride());
    for (std::int64_t first = 0; first < 46; ++first) {
      for (const std::int64_t n : {0, 1, 2, 7, 46}) {
        if (first + n > 46) continue;
        ASSERT_EQ(read(joined, first, n), expected.substr(static_cast<std::size_t>(first) * stride,
                                                          static_cast<std::size_t>(n) * stride));
      }
    }
    joined.check_unchanged();
    EXPECT_EQ(joined.with_dosages(), 0);
  }
}

TEST_F(JoinedGenotypesTest, TakeSomeSamplesOfAFile) {
  std::vector<GenotypePart> parts;
  parts.push_back(part({{0, 1, 2}}, {0, 1, 2}));
  parts.push_back(part({{2, 1, 0, 3}}, {0, 1, 2, 3}));
  parts[1].samples = {3, 0, 1};
  const JoinedGenotypes joined(std::move(parts));
  EXPECT_EQ(read(joined, 0, 2), pack({0, 1, 2}) + pack({3, 2, 1}));
}

TEST_F(JoinedGenotypesTest, RefuseOtherSamples) {
  EXPECT_THROW(JoinedGenotypes({}), InputError);
  const auto join = [&](std::vector<std::int64_t> samples) {
    std::vector<GenotypePart> parts;
    parts.push_back(part({{0, 1, 2}}, {0, 1, 2}));
    parts.push_back(part({{2, 1, 0, 3}}, {0, 1, 2, 3}));
    parts[1].samples = std::move(samples);
    const JoinedGenotypes joined(std::move(parts));
  };
  EXPECT_NO_THROW(join({3, 2, 1}));
  EXPECT_THROW(join({}), InputError);
  EXPECT_THROW(join({4, 2, 1}), InputError);
  EXPECT_THROW(join({-1, 2, 1}), InputError);
}

}  // namespace
}  // namespace ancify
