// Checks the sites drawn for training, at any number of threads.
#include "core/ancestry/training/ml_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "core/ancestry/comparison/reference.h"
#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

// Two species that agree everywhere. Chromosomes are longer and shorter than a piece.
struct Genome {
  std::vector<std::string> sequences;
  std::vector<ChromosomeSequences> chromosomes;
  std::array<std::vector<std::string>, kBases> neighbours;  // of each site, by base

  Genome(std::size_t longest, std::mt19937& random) {
    for (const std::size_t length : {longest, std::size_t{1}, std::size_t{5000}}) {
      std::string bases(length, 'N');
      for (char& c : bases) c = "ACGTN"[random() % 5];
      sequences.push_back(bases);
    }
    for (const auto& bases : sequences) {
      chromosomes.push_back({"chr", static_cast<std::int64_t>(bases.size()), [&bases] {
                               SequenceSources species;
                               for (int s = 0; s < 2; ++s) {
                                 species.push_back(
                                     memory_source(bases.data(), SequenceForm::kCharacters));
                               }
                               return species;
                             }});
      for (std::size_t i = 0; i < bases.size(); ++i) {
        if (bases[i] == 'N') continue;
        neighbours[base_code(bases[i])].push_back(
            {i > 0 ? bases[i - 1] : 'N', i + 1 < bases.size() ? bases[i + 1] : 'N'});
      }
    }
  }
};

struct Sites {
  std::vector<double> features;
  std::vector<int> labels;
};

Sites draw(const Genome& genome, std::int64_t most, std::uint64_t seed, int threads) {
  TrainingOptions options;
  options.voting.n_inner = options.voting.n_outer = 1;
  options.most_sites = most;
  options.seed = seed;
  options.threads = threads;
  JobControl control;
  TrainingSample sample(genome.chromosomes, options, control);
  for (std::size_t base = 0; base < kBases; ++base) {
    EXPECT_EQ(sample.labelled()[base], static_cast<std::int64_t>(genome.neighbours[base].size()));
  }
  const auto n = static_cast<std::size_t>(sample.sites());
  Sites sites{std::vector<double>(n * static_cast<std::size_t>(sample.features()), -9),
              std::vector<int>(n, -9)};
  sample.extract(sites.features.data(), sites.labels.data(), control);
  return sites;
}

TEST(TrainingSample, OneOfEachRun) {
  std::mt19937 random(1);
  const Genome genome(2300000, random);
  const std::size_t per_base = 5000;
  const Sites sites = draw(genome, 4 * per_base + 3, 7, 1);
  const std::size_t n = sites.labels.size();
  ASSERT_EQ(n, 4 * per_base);
  std::size_t first_of_run = 0;
  for (std::size_t base = 0; base < kBases; ++base) {
    const auto& all = genome.neighbours[base];
    for (std::size_t j = 0; j < per_base; ++j) {
      const std::size_t row = base * per_base + j;
      ASSERT_EQ(sites.labels[row], static_cast<int>(base));
      ASSERT_EQ(sites.features[row], static_cast<double>(base));
      const auto before = static_cast<std::size_t>(sites.features[9 * n + row]);
      const auto after = static_cast<std::size_t>(sites.features[10 * n + row]);
      const std::string neighbours = {"ACGTN"[before], "ACGTN"[after]};
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(j * all.size() / per_base);
      const auto end = all.begin() + static_cast<std::ptrdiff_t>((j + 1) * all.size() / per_base);
      ASSERT_NE(std::find(begin, end, neighbours), end);
      first_of_run += *begin == neighbours ? 1 : 0;
    }
  }
  // A run has about 90 sites, so the first must not always be drawn.
  EXPECT_LT(first_of_run, n / 5);
  for (const int threads : {2, 5}) {
    const Sites again = draw(genome, 4 * per_base + 3, 7, threads);
    EXPECT_EQ(again.features, sites.features);
    EXPECT_EQ(again.labels, sites.labels);
  }
  EXPECT_NE(draw(genome, 4 * per_base, 8, 1).features, sites.features);
}

TEST(TrainingSample, AllOfTheRarestBase) {
  std::mt19937 random(2);
  const Genome genome(30000, random);
  std::size_t fewest = genome.neighbours[0].size();
  for (const auto& sites : genome.neighbours) fewest = std::min(fewest, sites.size());
  const Sites sites = draw(genome, std::int64_t{1} << 40, 1, 2);
  EXPECT_EQ(sites.labels.size(), 4 * fewest);
  EXPECT_EQ(std::count(sites.labels.begin(), sites.labels.end(), -9), 0);
}

TEST(ReferenceSource, ReadsAnyLayout) {
  const TempDir dir;
  const std::string text = ">ANCESTOR of 1\nACG\r\nTNa\n\nc";
  for (const auto& content : {text, text + "\n", test::gzip(text)}) {
    const auto source = reference_source(dir.write("chr1.fa", content), 7);
    EXPECT_EQ(std::string(source->bases(0, 7, nullptr), 7), "ACGTNac");
    EXPECT_EQ(std::string(source->bases(2, 3, nullptr), 3), "GTN");
  }
  const auto refused = [&](const std::string& content) {
    const std::string path = dir.write("bad.fa", content);
    return message_of<FormatError>([&] { (void)reference_source(path, 4); });
  };
  EXPECT_NE(refused("ACGT\n").find("line 1: not a FASTA file"), std::string::npos);
  EXPECT_NE(refused("").find("has 0 bases, but the chromosome has 4"), std::string::npos);
  EXPECT_NE(refused(">a\nACGTA\n").find("has 5 bases"), std::string::npos);
  EXPECT_NE(refused(">a\nAC\n>b\nGT\n").find("line 3: a second sequence"), std::string::npos);
}

}  // namespace
}  // namespace ancify
