// Checks that site patterns are numbered and looked up correctly.
#include "core/ancestry/patterns/site_patterns.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/methods.h"
#include "core/ancestry/patterns/neighbours.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/packed.h"
#include "support.h"
#include "trees.h"
#include "whole_stretch.h"

namespace ancify {
namespace {

struct Sequences {
  std::vector<std::string> species;
  std::vector<std::string> packed;
  std::vector<const char*> pointers;
  std::vector<const char*> packed_pointers;

  Sites sites(SequenceForm form) const {
    const bool characters = form == SequenceForm::kCharacters;
    return {characters ? pointers.data() : packed_pointers.data(), form, species.front().size()};
  }
};

// Neighbouring species mostly agree, as they do in a genome.
Sequences similar_sequences(int n_species, std::size_t n, std::mt19937& random) {
  const std::string characters = "ACGTacgtN-R*";
  Sequences sequences;
  sequences.species.assign(static_cast<std::size_t>(n_species), std::string(n, 'N'));
  for (std::size_t i = 0; i < n; ++i) {
    const char usual = characters[random() % 8];
    for (auto& bases : sequences.species) {
      bases[i] = random() % 8 == 0 ? characters[random() % characters.size()] : usual;
    }
  }
  for (const auto& bases : sequences.species) {
    sequences.packed.emplace_back(packed_size(n), '\xff');
    pack_bases(bases.data(), n, 0, &sequences.packed.back()[0], SimdLevel::kScalar);
  }
  for (std::size_t s = 0; s < sequences.species.size(); ++s) {
    sequences.pointers.push_back(sequences.species[s].data());
    sequences.packed_pointers.push_back(sequences.packed[s].data());
  }
  return sequences;
}

std::vector<int> states_at(const Sequences& sequences, std::size_t i) {
  std::vector<int> states;
  for (const auto& bases : sequences.species) states.push_back(base_code(bases[i]));
  return states;
}

constexpr SequenceForm kForms[] = {SequenceForm::kCharacters, SequenceForm::kPacked};

// Checks each way to apply a method against the method itself.
TEST(SitePatterns, AreAppliedAsTheMethodSays) {
  std::mt19937 random(12);
  for (const int species : {2, 3, 4, 5, 6, 7, 8, 9, 20, 24, 25, 49}) {
    for (const std::string name : {"voting", "parsimony", "likelihood"}) {
      if (name == "likelihood" && species > 6 && species < 9) continue;  // slow to tabulate
      const auto options = test::random_options(name, species, random);
      const auto method = make_method(options);
      const auto sequences = similar_sequences(species, 5000, random);
      const std::size_t n = 5000;
      std::string calls;
      std::vector<std::uint8_t> phred;
      for (std::size_t i = 0; i < n; ++i) {
        const SiteCall site = method->call(states_at(sequences, i).data());
        calls += site.call;
        phred.push_back(error_phred(site));
      }
      for (const auto level : test::simd_levels()) {
        Backend backend;
        backend.simd = level;
        const Caller caller(make_method(options), backend, true);
        for (const auto form : kForms) {
          const Sites sites = sequences.sites(form);
          std::string found(n, '?');
          std::vector<std::uint8_t> found_phred(n, 77);
          const Stretch stretch = test::whole_stretch(sites.species, form, n);
          caller.call(stretch, &found[0], found_phred.data());
          ASSERT_TRUE(found == calls) << name << ", " << species << ", " << simd_name(level);
          ASSERT_TRUE(found_phred == phred) << name << ", " << species << ", " << simd_name(level);
          found.assign(n, '?');
          caller.call(stretch, &found[0]);
          ASSERT_TRUE(found == calls);
        }
      }
    }
  }
}

TEST(SitePatterns, ABatchHasTheStatesOfItsSites) {
  std::mt19937 random(15);
  for (const auto form : {SequenceForm::kCharacters, SequenceForm::kPacked}) {
    const std::size_t n = 3 * kBatchSites + 77;
    const auto sequences = similar_sequences(9, n, random);
    const Sites sites = sequences.sites(form);
    for (const SimdLevel level : {SimdLevel::kScalar, best_simd_level()}) {
      for (std::size_t start = 0; start < n; start += kBatchSites) {
        const std::size_t here = std::min(kBatchSites, n - start);
        std::vector<std::uint8_t> states(9 * kBatchSites, 77);
        make_batch(9, sites, start, here, level, states.data());
        for (std::size_t i = 0; i < kBatchSites; ++i) {
          const auto expected =
              i < here ? states_at(sequences, start + i) : std::vector<int>(9, kMissing);
          for (std::size_t s = 0; s < 9; ++s) {
            EXPECT_EQ(states[s * kBatchSites + i], expected[s]);
          }
        }
      }
    }
  }
}

void expect_same_in_batches(const Method& method, std::mt19937& random) {
  const auto species = static_cast<std::size_t>(method.species());
  std::vector<std::uint8_t> states(species * kBatchSites);
  std::vector<char> expected;
  for (std::size_t i = 0; i < kBatchSites; ++i) {
    auto pattern = test::random_states(species, random);
    if (i % 16 == 0) pattern.assign(species, kMissing);
    expected.push_back(method.call(pattern.data()).call);
    for (std::size_t s = 0; s < species; ++s) {
      states[s * kBatchSites + i] = static_cast<std::uint8_t>(pattern[s]);
    }
  }
  for (const SimdLevel level : {SimdLevel::kScalar, best_simd_level()}) {
    std::vector<SiteCall> found(kBatchSites);
    method.call_batch(states.data(), kBatchSites, level, found.data());
    for (std::size_t i = 0; i < kBatchSites; ++i) EXPECT_EQ(found[i].call, expected[i]);
  }
}

// Of a star of 300 species, parsimony calls the patterns of a batch one by one.
TEST(SitePatterns, ABatchHasTheCallsOfItsPatterns) {
  std::mt19937 random(16);
  for (const std::string name : {"voting", "parsimony"}) {
    for (const int species : {2, 9, 70, 300}) {
      auto options = test::random_options(name, species, random);
      if (species == 300) {
        std::vector<TreeNode> star = {{kNoParent, 0, kNoLeaf, ""}};
        for (int s = 0; s < species; ++s) star.push_back({0, 1, s, ""});
        options.tree = Tree(star, species);
      }
      expect_same_in_batches(*make_method(options), random);
    }
  }
  std::vector<std::unique_ptr<const Method>> of_classes;
  for (std::size_t k = 0; k < kNeighbourClasses; ++k) {
    of_classes.push_back(make_method(test::random_options("likelihood", 12, random)));
  }
  expect_same_in_batches(MethodByNeighbours(std::move(of_classes)), random);
}

TEST(SitePatterns, ABatchCountsMoreVotesThanAByteHolds) {
  constexpr int inner = 600;
  constexpr int outer = 256;
  std::vector<std::uint8_t> states(std::size_t{inner + outer} * kBatchSites, 2);
  for (std::size_t i = 0; i < kBatchSites; ++i) {
    // Of the inner species, 237 to 364 have C.
    for (std::size_t s = 0; s < 237 + i; ++s) states[s * kBatchSites + i] = 1;
  }
  for (const SimdLevel level : {SimdLevel::kScalar, best_simd_level()}) {
    std::vector<SiteCall> found(kBatchSites);
    VotingMethod({inner, outer}).call_batch(states.data(), kBatchSites, level, found.data());
    for (std::size_t i = 0; i < kBatchSites; ++i) {
      EXPECT_EQ(found[i].call, 237 + i < 300 ? 'G' : 'n') << i;
    }
  }
}

TEST(SitePatterns, NumbersAndStatesAreInverse) {
  for (const int species : {0, 1, 3, 8}) {
    for (std::size_t number = 0; number < number_of_patterns(species); number += 1 + species) {
      std::vector<int> states(static_cast<std::size_t>(species));
      states_of_pattern(number, species, states.data());
      std::size_t back = 0;
      for (int s = species - 1; s >= 0; --s) {
        back = back * kStates + static_cast<std::size_t>(states[static_cast<std::size_t>(s)]);
      }
      EXPECT_EQ(back, number);
    }
  }
}

TEST(Methods, AreRefusedWithoutWhatTheyNeed) {
  std::mt19937 random(15);
  auto options = test::random_options("likelyhood", 3, random);
  EXPECT_NE(test::message_of<InputError>([&] {
              make_method(options);
            }).find("there is no method \"likelyhood\"; the methods are \"voting\", \"parsimony\""),
            std::string::npos);
  for (const std::string name : {"parsimony", "likelihood"}) {
    options.name = name;
    EXPECT_NO_THROW(make_method(options));
    options.tree.reset();
    EXPECT_NE(test::message_of<InputError>([&] { make_method(options); }).find("needs a tree"),
              std::string::npos);
    options.tree = Tree(test::random_nodes(4, true, random), 4);
    EXPECT_NE(test::message_of<InputError>([&] { make_method(options); }).find("there are 3"),
              std::string::npos);
    options.tree = Tree(test::random_nodes(3, true, random), 3);
  }
}

}  // namespace
}  // namespace ancify
