// Checks the agreement of runs against plain counts.
#include "core/ancestry/comparison/call_comparison.h"

#include <gtest/gtest.h>

#include <random>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using Runs = std::vector<std::string>;

ChromosomeSequences chromosome(const Runs& runs) {
  return {"chr", static_cast<std::int64_t>(runs.front().size()), [&runs] {
            SequenceSources sources;
            for (const auto& calls : runs) {
              sources.push_back(memory_source(calls.data(), SequenceForm::kCharacters));
            }
            return sources;
          }};
}

// The state of a letter; other letters are missing data.
std::size_t state(char call) {
  const auto found = std::string("ACGTacgtn").find(call);
  return found == std::string::npos ? 9 : found;
}

CallComparison compare_slowly(const Runs& runs, std::size_t window) {
  const std::size_t pairs = number_of_pairs(runs.size());
  const std::size_t n = runs.front().size();
  CallComparison result;
  result.pairs.resize(pairs * kCallPairs);
  result.called.resize(std::size_t{1} << runs.size());
  result.both.resize(pairs * ((n + window - 1) / window));
  result.differ = result.both;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t set = 0;
    std::size_t pair = 0;
    for (std::size_t a = 0; a < runs.size(); ++a) {
      const std::size_t first = state(runs[a][i]);
      if (first < 8) set |= std::size_t{1} << a;
      for (std::size_t b = a + 1; b < runs.size(); ++b, ++pair) {
        const std::size_t second = state(runs[b][i]);
        ++result.pairs[pair * 100 + first * 10 + second];
        if (first >= 8 || second >= 8) continue;
        ++result.both[i / window * pairs + pair];
        if (first % 4 != second % 4) ++result.differ[i / window * pairs + pair];
      }
    }
    ++result.called[set];
  }
  return result;
}

Runs random_runs(std::size_t runs, std::size_t n, std::mt19937& random) {
  const std::string characters = "ACGTacgtnN-.";
  Runs result(runs, std::string(n, 'N'));
  for (auto& calls : result) {
    for (char& call : calls) call = characters[random() % characters.size()];
  }
  return result;
}

void expect_comparison(const std::vector<Runs>& genome, std::int64_t window) {
  std::vector<ChromosomeSequences> chromosomes;
  for (const auto& runs : genome) chromosomes.push_back(chromosome(runs));
  for (const int threads : {1, 3}) {
    Backend backend;
    backend.threads = threads;
    JobControl control;
    const auto found = compare_calls(chromosomes, window, backend, control);
    ASSERT_EQ(found.size(), genome.size());
    EXPECT_EQ(control.done(), control.expected());
    for (std::size_t i = 0; i < genome.size(); ++i) {
      const auto expected = compare_slowly(genome[i], static_cast<std::size_t>(window));
      EXPECT_EQ(found[i].pairs, expected.pairs);
      EXPECT_EQ(found[i].called, expected.called);
      EXPECT_EQ(found[i].both, expected.both);
      EXPECT_EQ(found[i].differ, expected.differ);
    }
  }
}

TEST(CompareCalls, CountsAsAPlainLoopDoes) {
  std::mt19937 random(31);
  for (const std::size_t runs : {2U, 3U, 12U}) {
    const std::vector<Runs> genome = {random_runs(runs, 1, random),
                                      random_runs(runs, 20000, random)};
    for (const std::int64_t window : {777, 1 << 30}) expect_comparison(genome, window);
  }
}

TEST(CompareCalls, OverPiecesAndWindowsThatDoNotFitThem) {
  std::mt19937 random(32);
  expect_comparison({random_runs(2, 2'200'000, random)}, 1'000'000);
}

TEST(CompareCalls, RefusesTooFewAndTooManyRuns) {
  for (const std::size_t runs : {1U, 13U}) {
    const Runs calls(runs, "ACGT");
    JobControl control;
    EXPECT_THROW(compare_calls({chromosome(calls)}, 10, Backend(), control), InputError);
  }
}

TEST(CompareCalls, OtherLettersAreRefusedOrMissing) {
  JobControl control;
  const Runs calls = {"ACGRu", "AMTTA"};
  EXPECT_THROW(compare_calls({chromosome(calls)}, 10, Backend(), control), InputError);
  const auto found =
      compare_calls({chromosome(calls)}, 10, Backend(), control, OtherLetters::kMissing);
  const Runs without = {"ACGNN", "ANTTA"};
  const auto expected = compare_calls({chromosome(without)}, 10, Backend(), control);
  EXPECT_EQ(found.front().pairs, expected.front().pairs);
  EXPECT_EQ(found.front().both.front(), 2);
  EXPECT_EQ(found.front().differ.front(), 1);
}

}  // namespace
}  // namespace ancify
