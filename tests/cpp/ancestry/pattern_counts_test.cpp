// Checks counts of site patterns against a map.
#include "core/ancestry/patterns/pattern_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/exec/errors.h"
#include "core/genome/packed.h"
#include "support.h"

namespace ancify {
namespace {

using Counts = std::map<std::vector<std::uint8_t>, std::int64_t>;

struct Genome {
  std::vector<std::vector<std::string>> bases;  // of each chromosome and leaf
  std::vector<std::vector<std::string>> packed;

  std::vector<ChromosomeSequences> chromosomes(SequenceForm form) const {
    std::vector<ChromosomeSequences> result;
    for (std::size_t i = 0; i < bases.size(); ++i) {
      result.push_back({"chr" + std::to_string(i),
                        static_cast<std::int64_t>(bases[i].front().size()), [this, i, form] {
                          SequenceSources sources;
                          const bool characters = form == SequenceForm::kCharacters;
                          for (const auto& leaf : characters ? bases[i] : packed[i]) {
                            sources.push_back(memory_source(leaf.data(), form));
                          }
                          return sources;
                        }});
    }
    return result;
  }
};

// Of 100 bases `noise` are random; the others are equal in all leaves.
Genome random_genome(int leaves, const std::vector<std::size_t>& lengths, unsigned noise,
                     std::mt19937& random) {
  const std::string characters = "ACGTacgtN-";
  Genome genome;
  for (const std::size_t n : lengths) {
    std::vector<std::string> bases(static_cast<std::size_t>(leaves), std::string(n, 'N'));
    std::vector<std::string> packed;
    for (std::size_t i = 0; i < n; ++i) {
      const char usual = characters[random() % 4];
      for (auto& leaf : bases) leaf[i] = random() % 100 < noise ? characters[random() % 10] : usual;
    }
    for (const auto& leaf : bases) {
      packed.emplace_back(packed_size(n), '\xff');
      pack_bases(leaf.data(), n, 0, &packed.back()[0], SimdLevel::kScalar);
    }
    genome.bases.push_back(bases);
    genome.packed.push_back(packed);
  }
  return genome;
}

Counts count_slowly(const std::vector<std::string>& bases) {
  Counts counts;
  for (std::size_t i = 0; i < bases.front().size(); ++i) {
    std::vector<std::uint8_t> states;
    for (const auto& leaf : bases) states.push_back(base_code(leaf[i]));
    ++counts[states];
  }
  return counts;
}

std::vector<Counts> count_slowly(const Genome& genome) {
  std::vector<Counts> all;
  for (const auto& chromosome : genome.bases) all.push_back(count_slowly(chromosome));
  return all;
}

void expect_counts(const std::vector<PatternCounts>& found, const std::vector<Counts>& expected,
                   int leaves) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].leaves, leaves);
    ASSERT_EQ(found[i].size(), expected[i].size());
    std::size_t at = 0;
    for (const auto& [states, count] : expected[i]) {  // in a map's order
      ASSERT_TRUE(std::equal(states.begin(), states.end(), found[i].pattern(at)));
      ASSERT_EQ(found[i].counts[at++], count);
    }
  }
}

TEST(CountPatterns, AreThoseOfAMap) {
  std::mt19937 random(21);
  for (const int leaves : {1, 2, 5, 6, 7, 8, 9, 20, 24, 25, 60}) {
    for (const unsigned noise : {5U, 100U}) {
      const auto genome = random_genome(leaves, {1, 5000, 129, 34000}, noise, random);
      const auto expected = count_slowly(genome);
      for (const auto level : test::simd_levels()) {
        for (const auto form : {SequenceForm::kCharacters, SequenceForm::kPacked}) {
          Backend backend;
          backend.simd = level;
          backend.threads = form == SequenceForm::kPacked ? 2 : 1;
          JobControl control;
          expect_counts(count_patterns(genome.chromosomes(form), backend, control), expected,
                        leaves);
          EXPECT_EQ(control.done(), control.expected());
        }
      }
    }
  }
}

TEST(CountPatterns, OverPiecesAndThreads) {
  std::mt19937 random(22);
  for (const int leaves : {3, 10}) {
    const auto genome = random_genome(leaves, {1'100'000, 600'000}, 10, random);
    const auto expected = count_slowly(genome);
    for (const int threads : {1, 2, 5}) {
      Backend backend;
      backend.threads = threads;
      backend.simd = best_simd_level();
      JobControl control;
      expect_counts(count_patterns(genome.chromosomes(SequenceForm::kPacked), backend, control),
                    expected, leaves);
    }
  }
}

TEST(CountPatterns, OfNothingAreNone) {
  JobControl control;
  EXPECT_TRUE(count_patterns({}, Backend(), control).empty());
  std::mt19937 random(23);
  const auto genome = random_genome(3, {0}, 0, random);
  const auto found =
      count_patterns(genome.chromosomes(SequenceForm::kCharacters), Backend(), control);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].leaves, 3);
  EXPECT_EQ(found[0].size(), 0u);
}

TEST(CountPatterns, LooksAtAllInputsFirst) {
  test::TempDir dir;
  const std::string good = dir.write("good", ">chr1\nACGT\n");
  const std::string bad = dir.write("bad", ">chr2\nACG\n");
  const auto from = [](const std::string& name, const std::string& path) -> ChromosomeSequences {
    return {name, 4, [=] {
              SequenceSources sources;
              sources.push_back(file_source(path, name, 4));
              return sources;
            }};
  };
  JobControl control;
  EXPECT_THROW(count_patterns({from("chr1", good), from("chr2", bad)}, Backend(), control),
               FormatError);
  EXPECT_EQ(control.done(), 0);
}

}  // namespace
}  // namespace ancify
