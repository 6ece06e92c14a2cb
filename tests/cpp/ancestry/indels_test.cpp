// Checks the positions where an indel can be placed, the allele of a sequence, and the columns of
// an outgroup.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/indels/indel_states.h"
#include "core/ancestry/indels/indel_window.h"
#include "core/ancestry/indels/region_columns.h"
#include "core/ancestry/patterns/voting.h"
#include "core/exec/errors.h"

namespace ancify {
namespace {

TEST(IndelWindow, HoldsAllPlacements) {
  //                          0123456789012345
  const std::string genome = "GACCttTTGACACAGC";
  const IndelWindow deletion = window_of({"CT", "C"}, 3, genome);
  EXPECT_TRUE(deletion.is_valid);
  EXPECT_EQ(deletion.start, 4);
  EXPECT_EQ(deletion.end, 8);
  EXPECT_EQ(deletion.alleles, (std::vector<std::string>{"TTTT", "TTT"}));
  // The same indel, written at the end of the repeat
  const IndelWindow at_end = window_of({"TT", "t"}, 6, genome);
  EXPECT_EQ(at_end.start, deletion.start);
  EXPECT_EQ(at_end.alleles, deletion.alleles);
  // ACACA
  const IndelWindow insertion = window_of({"G", "GAC"}, 8, genome);
  EXPECT_EQ(insertion.start, 9);
  EXPECT_EQ(insertion.end, 14);
  EXPECT_EQ(insertion.alleles, (std::vector<std::string>{"ACACA", "ACACACA"}));
  // No repeat, and no change of length
  EXPECT_EQ(window_of({"C", "CG"}, 3, genome).alleles, (std::vector<std::string>{"", "G"}));
  EXPECT_EQ(window_of({"GAC", "GTT"}, 8, genome).alleles, (std::vector<std::string>{"AC", "TT"}));
  // Both ALTs have the same stretch.
  EXPECT_EQ(window_of({"TG", "T", "TGTG"}, 7, genome).alleles,
            (std::vector<std::string>{"TG", "T", "TGTG"}));
}

TEST(IndelWindow, NeedsNeighboursAndTheRightBases) {
  EXPECT_TRUE(window_of({"AC", "A"}, 1, "GACG").is_valid);
  EXPECT_FALSE(window_of({"AC", "A"}, 1, "GACC").is_valid);
  EXPECT_FALSE(window_of({"AA", "A"}, 0, "AACG").is_valid);
  EXPECT_FALSE(window_of({"AG", "A"}, 1, "GACG").is_valid);
  EXPECT_FALSE(window_of({"CGT", "C"}, 2, "GACG").is_valid);
  EXPECT_FALSE(window_of({"C", "CT"}, 9, "GACG").is_valid);
  EXPECT_FALSE(window_of({"AC", "A"}, -1, "GACG").is_valid);
}

TEST(AlleleLike, GoesByLengthAndThenByDifferences) {
  const IndelWindow window = {1, 5, {"TTTT", "TTT", "TTAA"}, true};
  EXPECT_EQ(allele_like(window, "TGT"), 1);
  EXPECT_EQ(allele_like(window, "tttt"), 0);
  EXPECT_EQ(allele_like(window, "TTAC"), 2);
  EXPECT_EQ(allele_like(window, "TTTA"), kOtherAllele);  // equally close to both
  EXPECT_EQ(allele_like(window, "CCC"), kOtherAllele);
  EXPECT_EQ(allele_like(window, "TT"), kOtherAllele);
  EXPECT_EQ(allele_like({1, 1, {"", "G"}, true}, ""), 0);
  // More than half of the bases differ.
  EXPECT_EQ(allele_like({1, 1, {"", "G"}, true}, "C"), kOtherAllele);
}

class RegionColumnsTest : public ::testing::Test {
 protected:
  void add(std::int64_t start, std::string_view target, std::string_view query,
           bool continues = false, double score = 1) {
    AlignedPair pair;
    pair.score = score;
    pair.chromosome = "chr1";
    pair.start = start;
    pair.target = target;
    pair.query = query;
    pair.target_gaps = std::count(target.begin(), target.end(), '-');
    pair.end = start + static_cast<std::int64_t>(target.size()) - pair.target_gaps - 1;
    pair.continues = continues;
    columns_.project(pair, 0);
  }
  // The bases between the first and the last position; ? if unknown.
  std::string between(std::int64_t start, std::int64_t end) const {
    const Columns columns = columns_.at(0, start, end);
    return !columns.is_known ? "?" : (columns.neighbours ? "" : "|") + columns.between;
  }

  static ProjectionOptions skipping() {
    ProjectionOptions options;
    options.on_bad_block = OnBadBlock::kSkip;
    return options;
  }

  std::vector<Chromosome> chromosomes_ = {{"chr1", 40}};
  Regions regions_ = {{{2, 8}, {10, 20}}};
  RegionColumns columns_{"x", chromosomes_, regions_, nullptr, skipping()};
};

TEST_F(RegionColumnsTest, KeepsBasesAndInsertions) {
  add(1, "ACGT--ACGTACGTAC", "ACG-TTACGTACGTAC");
  EXPECT_EQ(between(2, 6), "TTA");
  EXPECT_EQ(between(2, 4), "|");
  EXPECT_EQ(between(10, 13), "T");
  EXPECT_EQ(between(10, 15), "?");
  EXPECT_THROW(between(7, 9), InputError);
  EXPECT_THROW(between(9, 12), InputError);
  EXPECT_THROW(between(20, 22), InputError);
}

TEST_F(RegionColumnsTest, ConnectsOnlyPairsThatContinueEachOther) {
  add(1, "ACGTA-", "ACGTAC");
  add(6, "-CGT", "GCGT", true);
  EXPECT_EQ(between(3, 7), "ACGC");
  add(6, "CGT", "CGT");
  EXPECT_EQ(between(3, 6), "?");
  EXPECT_EQ(between(5, 8), "G");
  // A pair that continues a bad one
  add(0, "ACG", "ACG");
  add(11, "ACGT", "ACGT", true);
  EXPECT_EQ(between(10, 13), "C");
}

TEST_F(RegionColumnsTest, TheBetterOfOverlappingPairsWins) {
  add(1, "ACGTA--CGTACGTAC", "ACGTATTCGTACGTAC");
  EXPECT_EQ(between(4, 6), "TT");
  add(4, "TACG", "T-CG", false, 2);
  EXPECT_EQ(between(3, 6), "");
  EXPECT_EQ(between(2, 5), "?");
  EXPECT_EQ(between(5, 8), "?");
  EXPECT_EQ(between(10, 13), "T");
}

TEST_F(RegionColumnsTest, TheOrderOfOverlappingPairsDoesNotMatter) {
  add(4, "TACG", "T-CG", false, 2);
  add(1, "ACGTA--CGTACGTAC", "ACGTATTCGTACGTAC");
  EXPECT_EQ(between(3, 6), "");
  EXPECT_EQ(between(2, 5), "?");
  EXPECT_EQ(between(5, 8), "?");
  EXPECT_EQ(between(10, 13), "T");
}

TEST_F(RegionColumnsTest, PairsOfOneScoreMustAgree) {
  add(1, "ACGTA--CGTACG", "ACGTATTCGTACG");
  add(4, "TA-CGTACG", "TATCATACG");
  EXPECT_EQ(between(2, 5), "?");  // the second pair begins inside
  EXPECT_EQ(between(3, 5), "");
  EXPECT_EQ(between(4, 6), "?");  // other insertions
  EXPECT_EQ(between(5, 8), "?");  // other bases
}

TEST(CallAllele, DoesNotDependOnTheOrderOfAlleles) {
  const VotingMethod method({2, 1, 1, 1});
  const auto call = [&](const std::vector<int>& alleles) { return call_allele(method, alleles); };
  EXPECT_EQ(call({0, 0, 0}).call, AlleleCall::kHigh);
  EXPECT_EQ(call({1, 1, 1}).allele, 1);
  EXPECT_EQ(call({7, 7, 7}).allele, 7);
  EXPECT_EQ(call({1, 1, kUnknownAllele}).call, AlleleCall::kLow);
  EXPECT_EQ(call({kOtherAllele, kOtherAllele, kOtherAllele}).call, AlleleCall::kOther);
  EXPECT_EQ(call({0, 0, 1}).call, AlleleCall::kUnresolved);
  // A tie in the inner tier, which the first allele would win
  EXPECT_EQ(call({0, 1, 0}).call, AlleleCall::kUnresolved);
  EXPECT_EQ(call({1, 0, 0}).call, AlleleCall::kUnresolved);
  EXPECT_EQ(call({kUnknownAllele, kUnknownAllele, kUnknownAllele}).call, AlleleCall::kMissing);
  const VotingMethod many({3, 2, 1, 1});
  EXPECT_EQ(call_allele(many, {0, 1, 2, 3, 4}).call, AlleleCall::kUnresolved);
}

}  // namespace
}  // namespace ancify
