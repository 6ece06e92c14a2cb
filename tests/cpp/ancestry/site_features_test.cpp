// Checks the features of positions against a plain implementation.
#include "core/ancestry/trained/site_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <string>

#include "core/ancestry/calling/ml_calling.h"
#include "core/genome/stretch.h"
#include "support.h"

namespace ancify {
namespace {

// ---- The oracle: one position, as the specification has it --------------------------------------

int code_slowly(char c) {
  const std::string known = "ACGTacgt";
  const std::size_t at = known.find(c);
  return c == '\0' || at == known.npos ? 4 : static_cast<int>(at % 4);
}

int consensus_slowly(const std::vector<int>& codes) {
  std::map<int, int> votes;
  for (const int code : codes) {
    if (code < 4) ++votes[code];
  }
  int best = 4;
  for (const auto& [base, n] : votes) {
    if (best == 4 || n > votes[best]) best = base;
  }
  return best;
}

struct Species {
  std::vector<std::string> sequences;
  int n_inner;

  std::int64_t length() const { return static_cast<std::int64_t>(sequences.front().size()); }
  std::vector<int> codes(std::int64_t at, std::size_t from, std::size_t to) const {
    std::vector<int> codes;
    for (std::size_t s = from; s < to; ++s) {
      codes.push_back(code_slowly(sequences[s][static_cast<std::size_t>(at)]));
    }
    return codes;
  }
  std::vector<int> codes(std::int64_t at) const { return codes(at, 0, sequences.size()); }
  // The code of the consensus base; 4 beyond the ends.
  int consensus(std::int64_t at) const {
    return at < 0 || at >= length() ? 4 : consensus_slowly(codes(at));
  }
};

std::vector<float> features_slowly(const Species& species, std::int64_t at) {
  std::vector<double> features;
  std::map<int, int> votes;
  int with_data = 0;
  int most = 0;
  for (const int code : species.codes(at)) {
    features.push_back(code == 4 ? -1 : code);
    if (code == 4) continue;
    ++with_data;
    most = std::max(most, ++votes[code]);
  }
  features.push_back(with_data);
  features.push_back(with_data == 0 ? 0 : static_cast<double>(most) / with_data);
  const auto n_inner = static_cast<std::size_t>(species.n_inner);
  const int inner = consensus_slowly(species.codes(at, 0, n_inner));
  const int outer = consensus_slowly(species.codes(at, n_inner, species.sequences.size()));
  features.push_back(inner);
  features.push_back(outer);
  features.push_back(inner == outer && inner != 4 ? 1 : 0);
  const std::int64_t half = std::min<std::int64_t>(50, (species.length() - 1) / 2);
  int gc = 0;
  int data = 0;
  for (std::int64_t i = at - half; i <= at + half; ++i) {
    const int base = species.consensus(i);
    gc += base == 1 || base == 2 ? 1 : 0;
    data += base != 4 ? 1 : 0;
  }
  features.push_back(data == 0 ? 0 : static_cast<double>(gc) / data);
  const int here = species.consensus(at);
  features.push_back((here == 1 && species.consensus(at + 1) == 2) ||
                             (here == 2 && species.consensus(at - 1) == 1)
                         ? 1
                         : 0);
  features.push_back(species.consensus(at - 1));
  features.push_back(species.consensus(at + 1));
  return {features.begin(), features.end()};
}

// ---- Sequences ----------------------------------------------------------------------------------

Species random_species(std::size_t length, int n_inner, int n_outer, std::mt19937& random) {
  Species species{{}, n_inner};
  const std::string characters = "AACCCGGGTTacgtN-n";
  std::string ancestor(length, 'A');
  for (char& c : ancestor) c = characters[random() % characters.size()];
  for (int s = 0; s < n_inner + n_outer; ++s) {
    std::string bases = ancestor;
    for (char& c : bases) {
      if (random() % 4 == 0) c = characters[random() % characters.size()];
    }
    species.sequences.push_back(bases);
  }
  // If long enough, a gap without data in any species, wider than a window.
  if (length > 400) {
    for (auto& bases : species.sequences) bases.replace(length / 2, 130, 130, 'N');
  }
  return species;
}

struct Sources {
  explicit Sources(const Species& species, SequenceForm form) {
    for (const auto& bases : species.sequences) {
      if (form == SequenceForm::kCharacters) {
        sources.push_back(memory_source(bases.data(), form));
        continue;
      }
      packed.emplace_back(packed_size(bases.size()));
      pack_bases(bases.data(), bases.size(), 0, packed.back().data(), SimdLevel::kScalar);
      sources.push_back(memory_source(packed.back().data(), form));
    }
  }
  std::deque<std::vector<char>> packed;
  SequenceSources sources;
};

std::vector<std::vector<float>> features_of(const Species& species, SequenceForm form,
                                            std::int64_t piece) {
  const auto n_species = static_cast<int>(species.sequences.size());
  const SiteFeatures features(species.n_inner, n_species - species.n_inner);
  const Sources sources(species, form);
  StretchReader reader(sources.sources, species.length(), kFeatureReach);
  std::vector<std::vector<float>> all;
  for (std::int64_t start = 0; start < species.length(); start += piece) {
    const Stretch stretch = reader.read(start, std::min(start + piece, species.length()));
    std::vector<float> some(static_cast<std::size_t>(features.count()) * stretch.size());
    features.compute(stretch, some.data());
    for (std::size_t i = 0; i < stretch.size(); ++i) {
      all.emplace_back();
      for (std::size_t at = i; at < some.size(); at += stretch.size()) {
        all.back().push_back(some[at]);
      }
    }
  }
  return all;
}

TEST(SiteFeatures, AreTheSpecifications) {
  std::mt19937 random(1);
  const std::vector<std::array<int, 2>> tiers = {{1, 1}, {2, 1}, {3, 4}, {9, 3}};
  for (const std::size_t length : {1, 2, 3, 4, 50, 100, 101, 102, 128, 129, 1000}) {
    for (const auto& [n_inner, n_outer] : tiers) {
      const Species species = random_species(length, n_inner, n_outer, random);
      std::vector<std::vector<float>> expected;
      for (std::int64_t i = 0; i < species.length(); ++i) {
        expected.push_back(features_slowly(species, i));
      }
      for (const auto form : {SequenceForm::kCharacters, SequenceForm::kPacked}) {
        for (const std::int64_t piece :
             {std::int64_t{128}, std::int64_t{384}, std::int64_t{4096}}) {
          EXPECT_EQ(features_of(species, form, piece), expected)
              << length << " bases, pieces of " << piece;
        }
      }
      EXPECT_EQ(static_cast<int>(expected.front().size()), SiteFeatures(n_inner, n_outer).count());
    }
  }
}

// ---- Calls --------------------------------------------------------------------------------------

// A model with one-leaf trees, except the tree of A, which splits by the number of species with
// data.
std::string model_text(double a_below, double a_above) {
  const auto tree = [](int number, const std::string& rest) {
    return "Tree=" + std::to_string(number) + "\nnum_cat=0\n" + rest + "\n\n";
  };
  return "tree\nversion=v4\nnum_class=4\nnum_tree_per_iteration=4\nmax_feature_idx=10\n"
         "objective=multiclass num_class:4\ntree_sizes=1 1 1 1\n\n" +
         tree(0,
              "num_leaves=2\nsplit_feature=2\nthreshold=1.5\ndecision_type=2\nleft_child=-1\n"
              "right_child=-2\nleaf_value=" +
                  std::to_string(a_below) + " " + std::to_string(a_above)) +
         tree(1, "num_leaves=1\nleaf_value=0") + tree(2, "num_leaves=1\nleaf_value=0") +
         tree(3, "num_leaves=1\nleaf_value=0") + "end of trees\n";
}

TEST(MlCaller, WritesBaseCaseAndPhred) {
  const test::TempDir dir;
  const std::string path = dir.write("model.txt", model_text(0.25, 40));
  const Species species = {{"ANNG", "AGNN"}, 1};
  const Sources sources(species, SequenceForm::kCharacters);
  StretchReader reader(sources.sources, 4, kFeatureReach);
  const Stretch stretch = reader.read(0, 4);
  std::string calls(4, '?');
  std::vector<std::uint8_t> phred(4);
  MlCaller(path, 1, 1, {0.8, 0.5}).call(stretch, SimdLevel::kScalar, &calls[0], phred.data());
  // Data in both species: error 3 exp(-40). In one: exp(0.25) against three times 1. In none: N.
  EXPECT_EQ(calls, "AnNn");
  const double p = std::exp(0.25) / (std::exp(0.25) + 3);
  const auto weak = static_cast<std::uint8_t>(std::lround(-10 * std::log10(1 - p)));
  EXPECT_EQ(phred, (std::vector<std::uint8_t>{169, weak, 255, weak}));

  MlCaller(path, 1, 1, {0.8, p}).call(stretch, SimdLevel::kScalar, &calls[0], nullptr);
  EXPECT_EQ(calls, "AaNa");
  MlCaller(path, 1, 1, {p, p}).call(stretch, SimdLevel::kScalar, &calls[0], nullptr);
  EXPECT_EQ(calls, "AANA");

  // A tie stays open, or goes to the first base.
  dir.write("model.txt", model_text(0, -1));
  MlCaller(path, 1, 1, {0.8, 0.25}).call(stretch, SimdLevel::kScalar, &calls[0], nullptr);
  EXPECT_EQ(calls, "nnNn");
  MlCaller(path, 1, 1, {0.8, 0.25, Ties::kAlphabet})
      .call(stretch, SimdLevel::kScalar, &calls[0], nullptr);
  EXPECT_EQ(calls, "caNa");
}

}  // namespace
}  // namespace ancify
