// Checks classes of neighbours, counts by class, and calls by a method for each class.
#include "core/ancestry/patterns/neighbours.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/methods.h"
#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/patterns/pattern_counts.h"
#include "core/exec/errors.h"
#include "core/genome/packed.h"
#include "support.h"
#include "trees.h"

namespace ancify {
namespace {

using Sequences = std::vector<std::string>;

// The oracle: counts the bases beside a position.
int class_slowly(const Sequences& species, std::size_t outgroups, std::size_t i) {
  const auto is_common = [&](std::size_t at, char base) {
    int with_base = 0;
    int of_this = 0;
    for (std::size_t s = 0; s < outgroups; ++s) {
      const char letter = upper_base(base_code(species[s][at]));
      with_base += letter == 'N' ? 0 : 1;
      of_this += letter == base ? 1 : 0;
    }
    return of_this > 0 && of_this >= with_base - of_this;
  };
  const bool g_after = i + 1 < species[0].size() && is_common(i + 1, 'G');
  const bool c_before = i > 0 && is_common(i - 1, 'C');
  return (g_after ? 1 : 0) + (c_before ? 2 : 0);
}

Sequences random_sequences(std::size_t species, std::size_t n, std::mt19937& random) {
  Sequences result(species, std::string(n, 'N'));
  for (std::size_t i = 0; i < n; ++i) {
    const char usual = "CGCGATcg"[random() % 8];
    for (auto& bases : result) bases[i] = random() % 3 == 0 ? "ACGTN-gc"[random() % 8] : usual;
  }
  return result;
}

// The sequences in a form, and their sources.
struct Kept {
  Kept(const Sequences& species, SequenceForm wanted) : form(wanted), bases(species) {
    if (form == SequenceForm::kCharacters) return;
    for (std::string& one : bases) {
      std::string packed(packed_size(one.size()), '\xff');
      pack_bases(one.data(), one.size(), 0, &packed[0], SimdLevel::kScalar);
      one = packed;
    }
  }
  SequenceSources sources() const {
    SequenceSources result;
    for (const auto& one : bases) result.push_back(memory_source(one.data(), form));
    return result;
  }
  SequenceForm form;
  Sequences bases;
};

Backend cpu(int threads, SimdLevel simd) {
  Backend backend;
  backend.threads = threads;
  backend.simd = simd;
  return backend;
}

TEST(NeighbourClasses, AreThoseOfCounts) {
  std::mt19937 random(61);
  constexpr std::int64_t n = 3001;
  for (const int outgroups : {1, 2, 3, 8, 9, 30}) {
    // One species more than the outgroups that determine the classes.
    const auto species = random_sequences(static_cast<std::size_t>(outgroups) + 1, n, random);
    for (const auto form : {SequenceForm::kCharacters, SequenceForm::kPacked}) {
      const Kept kept(species, form);
      const SequenceSources sources = kept.sources();
      const NeighbourClasses classes(outgroups);
      for (const auto level : test::simd_levels()) {
        for (const std::int64_t piece : {128, 1024, 4096}) {
          StretchReader reader(sources, n, kNeighbourReach);
          for (std::int64_t start = 0; start < n; start += piece) {
            const Stretch stretch = reader.read(start, std::min(start + piece, n));
            const auto found = classes.sequence(stretch, level);
            for (std::size_t i = 0; i < stretch.size(); ++i) {
              const int code = form == SequenceForm::kPacked ? packed_code(found.data(), i)
                                                             : base_code(found[i]);
              const auto at = static_cast<std::size_t>(start) + i;
              ASSERT_EQ(code, class_slowly(species, static_cast<std::size_t>(outgroups), at));
            }
          }
        }
      }
    }
  }
}

TEST(NeighbourClasses, OfATieAreBoth) {
  const int c_or_g[] = {1, 2};
  EXPECT_EQ(common_c_or_g(c_or_g, 2), 3);
  const int g_of_three[] = {2, 0, 3};
  EXPECT_EQ(common_c_or_g(g_of_three, 3), 0);
  const int g_of_one[] = {kMissing, 2, kMissing};
  EXPECT_EQ(common_c_or_g(g_of_one, 3), 1);
  const int none[] = {kMissing, kMissing};
  EXPECT_EQ(common_c_or_g(none, 2), 0);
  EXPECT_EQ(common_c_or_g(none, 0), 0);
}

TEST(NeighbourClasses, AreALeafOfCounts) {
  std::mt19937 random(62);
  for (const std::size_t outgroups : {1U, 3U, 9U}) {
    const std::size_t n = outgroups == 1 ? 600'001 : 40'001;  // more than a piece, or than a part
    for (const std::size_t focal : {0U, 1U}) {
      const auto species = random_sequences(outgroups + focal, n, random);
      std::map<std::vector<std::uint8_t>, std::int64_t> expected;
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<std::uint8_t> states;
        for (const auto& bases : species) states.push_back(base_code(bases[i]));
        states.push_back(static_cast<std::uint8_t>(class_slowly(species, outgroups, i)));
        ++expected[states];
      }
      for (const auto form : {SequenceForm::kCharacters, SequenceForm::kPacked}) {
        const Kept kept(species, form);
        for (const int threads : {1, 3}) {
          JobControl control;
          const auto found = count_patterns(
              {{"chr1", static_cast<std::int64_t>(n), [&] { return kept.sources(); }}},
              cpu(threads, best_simd_level()), control, static_cast<int>(outgroups));
          ASSERT_EQ(found[0].size(), expected.size());
          ASSERT_EQ(found[0].leaves, static_cast<int>(species.size()) + 1);
          std::size_t at = 0;
          for (const auto& [states, count] : expected) {  // in a map's order
            ASSERT_TRUE(std::equal(states.begin(), states.end(), found[0].pattern(at)));
            ASSERT_EQ(found[0].counts[at++], count);
          }
        }
      }
    }
  }
}

MethodOptions options_in_classes(const std::string& name, int species, std::mt19937& random) {
  MethodOptions options = test::random_options(name, species, random);
  options.thresholds = {0.6, 0.4};
  History history = {20000, 1, {}};
  for (int i = 0; i < species; ++i) history.joins.push_back({1e5 * (i + 2), i + 1, 0, 50000});
  options.history = history;
  for (int k = 0; k < kNeighbourClasses; ++k) {
    options.class_rates.push_back(test::random_rates(random));
    options.class_rates.back().rate = 0.5 + k;
  }
  return options;
}

TEST(Classes, HaveMethodsOfTheirOwn) {
  std::mt19937 random(63);
  const std::size_t n = 4 * Caller::stretch() + 10'007;
  for (const auto& [name, outgroups] :
       std::map<std::string, int>{{"likelihood", 3}, {"coalescent", 2}}) {
    const auto species = random_sequences(static_cast<std::size_t>(outgroups), n, random);
    const MethodOptions options = options_in_classes(name, outgroups, random);
    std::vector<std::unique_ptr<const Method>> methods;
    for (const auto& rates : options.class_rates) {
      MethodOptions of_class = options;
      of_class.class_rates.clear();
      of_class.rates = rates;
      methods.push_back(make_method(of_class));
    }
    std::string calls(n, '?');
    std::vector<double> posteriors(n * kBases, NAN);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<int> states;
      for (const auto& bases : species) states.push_back(base_code(bases[i]));
      const int of_site = class_slowly(species, species.size(), i);
      const SiteCall site = methods[static_cast<std::size_t>(of_site)]->call(states.data());
      calls[i] = site.call;
      for (std::size_t base = 0; base < kBases && site.posterior; ++base) {
        posteriors[base * n + i] = (*site.posterior)[base];
      }
    }
    for (const auto level : test::simd_levels()) {
      for (const auto form : {SequenceForm::kCharacters, SequenceForm::kPacked}) {
        const Kept kept(species, form);
        const Caller caller = make_caller(options, cpu(2, level), true);
        EXPECT_EQ(caller.reach(), 1);
        JobControl control;
        std::string found(n, '?');
        std::vector<double> found_posteriors(n * kBases);
        call_sequences(caller, kept.sources(), n, &found[0], found_posteriors.data(), control);
        EXPECT_TRUE(found == calls) << name;
        for (std::size_t i = 0; i < posteriors.size(); ++i) {
          ASSERT_TRUE(found_posteriors[i] == posteriors[i] ||
                      (std::isnan(found_posteriors[i]) && std::isnan(posteriors[i])));
        }
      }
    }
  }
}

TEST(Classes, OfManySpeciesAreCached) {
  std::mt19937 random(64);
  const auto species = random_sequences(kMostTabulated, 3000, random);
  const Kept kept(species, SequenceForm::kPacked);
  MethodOptions options = options_in_classes("likelihood", kMostTabulated, random);
  const Caller caller = make_caller(options, cpu(2, best_simd_level()), false);
  JobControl control;
  std::string found(3000, '?');
  call_sequences(caller, kept.sources(), found.size(), &found[0], nullptr, control);
  for (std::size_t i = 0; i < 100; ++i) {
    std::vector<int> states;
    for (const auto& bases : species) states.push_back(base_code(bases[i]));
    MethodOptions of_class = options;
    of_class.class_rates.clear();
    const int of_site = class_slowly(species, species.size(), i);
    of_class.rates = options.class_rates[static_cast<std::size_t>(of_site)];
    ASSERT_EQ(found[i], make_method(of_class)->call(states.data()).call);
  }
}

TEST(Classes, AreFour) {
  std::mt19937 random(65);
  MethodOptions options = options_in_classes("likelihood", 3, random);
  options.class_rates.pop_back();
  EXPECT_THROW(make_caller(options, cpu(1, SimdLevel::kScalar), false), InputError);
  options = options_in_classes("likelihood", 3, random);
  options.class_rates[1].rate = 0;
  EXPECT_NE(test::message_of<InputError>([&] {
              make_caller(options, cpu(1, SimdLevel::kScalar), false);
            }).find("mean rate is 0"),
            std::string::npos);
}

// A rate has the effect of longer branches, or of more mutations.
TEST(Classes, HaveRates) {
  std::mt19937 random(66);
  SubstitutionRates rates = test::random_rates(random);
  const MutationModel plain = mutation_model(rates, 2e-8);
  rates.rate = 2;
  const MutationModel fast = mutation_model(rates, 1e-8);
  const History history = {20000, 10, {{1e5, 1, 0, 50000}, {2e5, 2, 0, 50000}}};
  JobControl control;
  const std::vector<PolymorphicSite> sites = {{7, {0, 2}, 10, 3}, {7, {0, 2}, 10, 3, 1}};
  const auto expected = polarise(history, {plain}, sites, control);
  EXPECT_EQ(expected[0], expected[1]);
  const auto found = polarise(history, {fast}, sites, control);
  for (std::size_t base = 0; base < kBases; ++base) {
    EXPECT_NEAR(found[0][base], expected[0][base], 1e-9);
  }
  const auto other = mutation_model(SubstitutionRates{}, 1e-8);
  const auto in_classes = polarise(history, {other, plain, other, other}, sites, control);
  EXPECT_EQ(in_classes[0], polarise(history, {other}, sites, control)[0]);
  EXPECT_EQ(in_classes[1], expected[0]);
}

}  // namespace
}  // namespace ancify
