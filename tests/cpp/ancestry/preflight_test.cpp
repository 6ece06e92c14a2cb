// Checks the inspection of alignments before a run.
#include "core/ancestry/projection/preflight.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "core/genome/bases.h"
#include "support.h"

namespace ancify {
namespace {

using test::bgzip;
using test::gzip;
using test::TempDir;

const std::vector<Chromosome> kChromosomes = {{"chr1", 6000}, {"chr2", 700}};

std::string random_bases(std::int64_t n, std::mt19937& random) {
  std::string bases(static_cast<std::size_t>(n), '\0');
  for (char& c : bases) c = "ACGT"[random() % 4];
  return bases;
}

std::string changed(std::string bases, unsigned one_in, std::mt19937& random) {
  for (char& c : bases) {
    if (random() % one_in == 0) c = "ACGT"[random() % 4];
  }
  return bases;
}

std::string axt_block(const std::string& name, std::int64_t start, const std::string& focal,
                      const std::string& outgroup) {
  const auto end = start + static_cast<std::int64_t>(focal.size()) - 1;
  return "0 " + name + " " + std::to_string(start) + " " + std::to_string(end) + " x 1 9 + 1\n" +
         focal + "\n" + outgroup + "\n\n";
}

// An AXT with one block for each chromosome.
std::string whole_axt(const std::vector<std::string>& focal,
                      const std::vector<std::string>& outgroup) {
  std::string text;
  for (std::size_t i = 0; i < focal.size(); ++i) {
    text += axt_block(kChromosomes[i].name, 1, focal[i], outgroup[i]);
  }
  return text;
}

std::string maf_row(const std::string& source, const std::string& bases) {
  const std::string n = std::to_string(bases.size());
  return "s " + source + " 0 " + n + " + " + n + " " + bases + "\n";
}

std::int64_t differences(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a[i].size(); ++k) n += a[i][k] != b[i][k];
  }
  return n;
}

class PreflightOf : public testing::Test {
 protected:
  Preflight look(const std::vector<PreflightOutgroup>& outgroups, int threads = 1) const {
    JobControl control;
    return look_at_alignments(outgroups, kChromosomes, options_, threads, control);
  }

  // The genome with one in `one_in` bases changed, by chromosome.
  std::vector<std::string> changed_genome(unsigned one_in) {
    std::vector<std::string> result;
    for (const auto& bases : genome_) result.push_back(changed(bases, one_in, random_));
    return result;
  }

  TempDir dir_;
  std::mt19937 random_{1};
  std::vector<std::string> genome_ = {random_bases(6000, random_), random_bases(700, random_)};
  PreflightOptions options_;
};

TEST_F(PreflightOf, AxtAndMafAreTheSameInAnyChunksAndOnAnyThreads) {
  const auto near = changed_genome(50);
  const auto far = changed_genome(10);
  const std::string near_axt = dir_.write("near.axt", whole_axt(genome_, near));
  const std::string far_axt = dir_.write("far.axt", bgzip(whole_axt(genome_, far), 1000));
  std::string text = "##maf version=1\n";
  for (std::size_t i = 0; i < kChromosomes.size(); ++i) {
    text += "a\n" + maf_row("hg." + kChromosomes[i].name, genome_[i]) + maf_row("near.1", near[i]) +
            maf_row("far.1", far[i]) + "\n";
  }
  text += "a\n" + maf_row("hg.chr3", "ACGT") + maf_row("near.1", "ACGT") + "\n";
  const std::string maf = dir_.write("both.maf", gzip(text));
  options_.projection.focal_name = "hg";
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{997}, std::size_t{1} << 18}) {
    options_.projection.chunk_size = chunk;
    for (const int threads : {1, 2}) {
      for (const auto& outgroups :
           {std::vector<PreflightOutgroup>{{near_axt, "", true}, {far_axt, "", false}},
            std::vector<PreflightOutgroup>{{maf, "near", true}, {maf, "far", false}}}) {
        const bool is_maf = outgroups[0].file == maf;
        const Preflight result = look(outgroups, threads);
        ASSERT_EQ(result.outgroups.size(), 2u);
        EXPECT_EQ(result.outgroups[0].differ, differences(genome_, near));
        EXPECT_EQ(result.outgroups[1].differ, differences(genome_, far));
        EXPECT_EQ(result.outgroups[0].chromosomes.size(), is_maf ? 3u : 2u);
        for (const auto& one : result.outgroups) {
          EXPECT_EQ(one.problem, "");
          EXPECT_TRUE(one.whole);
          EXPECT_EQ(one.bad, 0);
          EXPECT_EQ(one.sites, 6700);
          EXPECT_EQ(one.chromosomes[1].name, "chr2");
          EXPECT_EQ(one.chromosomes[1].end, 700);
        }
        EXPECT_EQ(result.focal.size(), is_maf ? 0u : 1u);
        ASSERT_EQ(result.divergence.size(), 1u);
        EXPECT_EQ(result.divergence[0].sites, 6700);
        EXPECT_LT(result.divergence[0].excess, -3);
      }
    }
  }
}

TEST_F(PreflightOf, LettersAreComparedWithTheGenomeAsFarAsTheyReach) {
  const auto other = changed_genome(20);
  const std::string axt = dir_.write("a.axt", whole_axt(other, other));
  const std::string fasta =
      ">chr9\nACGT\n>chr1 x\n" + genome_[0] + "\n>chr2\n" + genome_[1] + "\n>chr3\nAC\n";
  std::string lower = fasta;
  for (char& c : lower) {
    if (c == 'A' || c == 'C' || c == 'G' || c == 'T') c = static_cast<char>(c | 0x20);
  }
  for (const std::string& content : {fasta, lower, gzip(fasta), bgzip(fasta, 100)}) {
    options_.focal_fasta = dir_.write("focal.fa", content);
    const Preflight result = look({{axt, "", true}});
    EXPECT_EQ(result.fasta_problem, "");
    EXPECT_EQ(result.outgroups[0].compared, 6700);
    EXPECT_EQ(result.outgroups[0].wrong, differences(genome_, other));
    EXPECT_EQ(result.outgroups[0].first_wrong.substr(0, 5), "chr1:");
  }
  options_.focal_fasta = dir_.write("focal.fa", ">chr1\n" + genome_[0] + "\n");
  EXPECT_NE(look({{axt, "", true}}).fasta_problem.find("no sequence called 'chr2'"),
            std::string::npos);
  options_.focal_fasta = dir_.write("focal.fa", ">chr1\n" + genome_[0] + "A\n>chr2\n" + genome_[1]);
  EXPECT_NE(look({{axt, "", true}}).fasta_problem.find("has 6001 bases"), std::string::npos);
}

TEST_F(PreflightOf, FaultsOfAFileAreInItsResult) {
  const std::string text = whole_axt(genome_, genome_);
  const std::string bad = axt_block("chr1", 5990, std::string(20, 'A'), std::string(20, 'C'));
  const Preflight result = look({{dir_.write("good", text), "", true},
                                 {dir_.write("cut", gzip(text).substr(0, 1000)), "", true},
                                 {dir_.write("bad", bad + text), "", false},
                                 {dir_.file("none"), "", false}});
  EXPECT_EQ(result.outgroups[0].problem, "");
  EXPECT_NE(result.outgroups[1].problem.find("cut short"), std::string::npos);
  EXPECT_FALSE(result.outgroups[1].whole);
  EXPECT_EQ(result.outgroups[2].bad, 1);
  EXPECT_EQ(result.outgroups[2].bad_examples[0].line, 1);
  EXPECT_EQ(result.outgroups[2].chromosomes[0].end, 6009);
  EXPECT_NE(result.outgroups[3].problem.find("none"), std::string::npos);
}

TEST_F(PreflightOf, ManyChromosomesAndFarPositionsAreKeptApart) {
  std::vector<Chromosome> chromosomes;
  for (int i = 0; i < 100000; ++i) chromosomes.push_back({"c" + std::to_string(i), 100});
  chromosomes.push_back({"long", std::int64_t{1} << 40});
  std::string first;
  std::string second;
  const std::string bases = random_bases(100, random_);
  for (const int i : {0, 1, 65536, 99999}) {
    first += axt_block("c" + std::to_string(i), 1, bases, bases);
    second += axt_block("c" + std::to_string((i + 1) % 100000), 1, bases, bases);
  }
  const std::int64_t far = (std::int64_t{1} << 40) - 99;
  first += axt_block("long", far, bases, bases);
  second += axt_block("long", far, bases, bases);
  JobControl control;
  const Preflight result =
      look_at_alignments({{dir_.write("a", first), "", true}, {dir_.write("b", second), "", false}},
                         chromosomes, options_, 1, control);
  for (const auto& outgroup : result.outgroups) {
    EXPECT_EQ(outgroup.sites, 500);
    EXPECT_EQ(outgroup.bad, 0);
  }
  // The sites are on c0, c1 and the long chromosome.
  EXPECT_EQ(result.focal[0].sites, 300);
  EXPECT_EQ(result.focal[0].differ, 0);
}

// For each position of chr1, the focal letter and the outgroup's letter in the last block.
using SlowLook = std::map<std::int64_t, std::pair<char, char>>;

// Overlapping blocks of all lengths, with gaps, lower case and letters other than bases.
std::pair<std::string, SlowLook> random_blocks(int n, std::mt19937& random) {
  std::string text;
  SlowLook seen;
  const auto letter = [&] { return "ACGTacgtNnR"[random() % 11]; };
  for (int k = 0; k < n; ++k) {
    const std::int64_t start = 1 + random() % 5000;
    std::int64_t position = start;
    std::string focal;
    std::string outgroup;
    for (auto columns = 1 + random() % 900; columns > 0; --columns) {
      const bool insertion = !focal.empty() && columns > 1 && random() % 20 == 0;
      focal += insertion ? '-' : letter();
      outgroup += !insertion && random() % 20 == 0 ? '-' : random() % 3 ? focal.back() : letter();
      if (insertion && outgroup.back() == '-') outgroup.back() = 'A';
      if (!insertion) seen[position++] = {focal.back(), outgroup.back()};
    }
    text += "0 chr1 " + std::to_string(start) + " " + std::to_string(position - 1) +
            " x 1 9 + 1\n" + focal + "\n" + outgroup + "\n\n";
  }
  return {text, seen};
}

TEST_F(PreflightOf, CountsAreThoseOfASlowLookAtEveryLevel) {
  const auto known = [](char c) { return base_code(c) != kMissing; };
  const auto differ = [&](char a, char b) {
    return known(a) && known(b) && base_code(a) != base_code(b);
  };
  for (int round = 0; round < 20; ++round) {
    const auto [text_a, a] = random_blocks(8, random_);
    const auto [text_b, b] = random_blocks(8, random_);
    std::string fasta = ">chr1\n";
    for (std::size_t i = 0; i < genome_[0].size();) {
      const std::size_t n = 1 + random_() % 150;
      fasta += genome_[0].substr(i, n) + "\n";
      i += n;
    }
    options_.focal_fasta = dir_.write("focal.fa", fasta + ">chr2\n" + genome_[1] + "\n");
    OutgroupPreflight one;
    for (const auto& [position, letters] : a) {
      const char genome = genome_[0][static_cast<std::size_t>(position - 1)];
      one.sites += known(letters.first) && known(letters.second);
      one.differ += differ(letters.first, letters.second);
      one.compared += known(letters.first);
      one.wrong += differ(letters.first, genome);
    }
    FocalComparison focal{0, 1};
    DivergenceComparison both{0, 1};
    for (const auto& [position, letters] : a) {
      const auto at = b.find(position);
      if (at == b.end()) continue;
      const auto& others = at->second;
      focal.sites += known(letters.first) && known(others.first);
      focal.differ += differ(letters.first, others.first);
      if (!known(letters.first) || !known(letters.second)) continue;
      if (!known(others.first) || !known(others.second)) continue;
      ++both.sites;
      both.inner_differ += differ(letters.first, letters.second);
      both.outer_differ += differ(others.first, others.second);
    }
    for (const auto level : test::simd_levels()) {
      options_.projection.simd = level;
      const Preflight result =
          look({{dir_.write("a", text_a), "", true}, {dir_.write("b", text_b), "", false}});
      EXPECT_EQ(result.outgroups[0].bad, 0);
      EXPECT_EQ(result.outgroups[0].sites, one.sites);
      EXPECT_EQ(result.outgroups[0].differ, one.differ);
      EXPECT_EQ(result.outgroups[0].compared, one.compared);
      EXPECT_EQ(result.outgroups[0].wrong, one.wrong);
      EXPECT_EQ(result.focal[0].sites, focal.sites);
      EXPECT_EQ(result.focal[0].differ, focal.differ);
      EXPECT_EQ(result.divergence[0].sites, both.sites);
      EXPECT_EQ(result.divergence[0].inner_differ, both.inner_differ);
      EXPECT_EQ(result.divergence[0].outer_differ, both.outer_differ);
    }
  }
}

TEST_F(PreflightOf, TheFirstDifferenceIsNamed) {
  auto other = genome_;
  for (const std::size_t at : {std::size_t{777}, std::size_t{3000}}) {
    other[0][at] = other[0][at] == 'A' ? 'G' : 'A';
  }
  const std::string right = dir_.write("right", whole_axt(genome_, genome_));
  const std::string wrong = dir_.write("wrong", whole_axt(other, other));
  options_.focal_fasta =
      dir_.write("focal.fa", ">chr1\n" + genome_[0] + "\n>chr2\n" + genome_[1] + "\n");
  const Preflight result = look({{right, "", true}, {wrong, "", true}});
  EXPECT_EQ(result.focal[0].first_difference, "chr1:778");
  EXPECT_EQ(result.outgroups[0].first_wrong, "");
  EXPECT_EQ(result.outgroups[1].first_wrong,
            std::string("chr1:778, ") + other[0][777] + " for " + genome_[0][777]);
  const std::string shuffled = dir_.write(
      "shuffled", axt_block("chr1", 2001, other[0].substr(2000), other[0].substr(2000)) +
                      axt_block("chr1", 1, other[0].substr(0, 2000), other[0].substr(0, 2000)));
  EXPECT_EQ(look({{shuffled, "", true}, {right, "", true}}).focal[0].first_difference, "chr1:778");
}

TEST_F(PreflightOf, EqualDivergencesAreNoExcess) {
  int far_out = 0;
  for (int k = 0; k < 200; ++k) {
    const std::string a = dir_.write("a", whole_axt(genome_, changed_genome(15)));
    const std::string b = dir_.write("b", whole_axt(genome_, changed_genome(15)));
    const double excess = look({{a, "", true}, {b, "", false}}).divergence[0].excess;
    EXPECT_LT(std::abs(excess), 4);
    far_out += std::abs(excess) > 2;
  }
  EXPECT_LT(far_out, 25);
}

}  // namespace
}  // namespace ancify
