// Checks the packed genotypes of a VCF, and the records that are left out or refused.
#include "core/formats/genotype/record_calls.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"
#include "core/formats/genotype/memory_genotypes.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/formats/variant/variant_file.h"
#include "support.h"

namespace ancify {
namespace {

using test::TempDir;

// `records`: ALT, then genotypes of five samples, between blanks.
std::string vcf_of(const std::vector<std::string>& records) {
  std::string text =
      "##fileformat=VCFv4.2\n##contig=<ID=1>\n"
      "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n"
      "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\td\te\n";
  for (const std::string& record : records) {
    const std::size_t end = record.find(' ');
    std::string genotypes = record.substr(end);
    for (char& c : genotypes) c = c == ' ' ? '\t' : c;
    text += "1\t7\tv\tA\t" + record.substr(0, end) + "\t.\t.\t.\tGT" + genotypes + "\n";
  }
  return text;
}

class RecordCallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (htslib_version().empty()) GTEST_SKIP() << "This build has no htslib.";
  }
  RecordCalls read(const std::vector<std::string>& records, bool split = false) {
    JobControl control;
    return read_record_calls(dir_.write("x.vcf", vcf_of(records)), {split}, 1, control);
  }
  TempDir dir_;
};

TEST_F(RecordCallsTest, PacksWhatStandsThere) {
  const RecordCalls found =
      read({"C 0/0 0|1 1/0 1|1 ./.", "CT 0/0 0/0 0/0 0/0 0/0", "G 0 1 . ./1 1|1", "C,G 1 1 1 1 1"});
  EXPECT_EQ(found.multiallelic, 1);
  EXPECT_EQ(found.not_snp, 1);
  EXPECT_EQ(found.without_genotypes, 0);
  ASSERT_EQ(found.variants.counted.size(), 2U);
  EXPECT_EQ(found.variants.counted[1], "G");
  EXPECT_EQ(found.variants.other[1], "A");
  EXPECT_EQ(found.variants.id[0], "v");
  const MemoryGenotypes file("x", {found.genotypes.calls.data()}, 5, 2);
  const unsigned expected[2][5] = {{0, 1, 1, 2, kMissingCall},
                                   {0, 2, kMissingCall, kMissingCall, 2}};
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(file.stride()));
  for (std::int64_t j = 0; j < 2; ++j) {
    file.read(j, 1, calls.data());
    for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(call_at(calls.data(), i), expected[j][i]);
  }
}

TEST_F(RecordCallsTest, SplitsByAltAllele) {
  const RecordCalls found =
      read({"C,G,CT 0/0 1/2 2/2 0/3 ./1", "C 0/0 0/1 1/1 . 0", "CT,CTT 0/0 1/2 2/2 0/1 ./1"}, true);
  EXPECT_EQ(found.split, 1);
  EXPECT_EQ(found.multiallelic, 0);
  EXPECT_EQ(found.not_snp, 1);
  ASSERT_EQ(found.variants.counted.size(), 3U);
  EXPECT_EQ(found.variants.counted[0], "C");
  EXPECT_EQ(found.variants.counted[1], "G");
  const MemoryGenotypes file("x", {found.genotypes.calls.data()}, 5, 3);
  const unsigned expected[3][5] = {
      {0, 1, 0, 0, kMissingCall}, {0, 1, 2, 0, kMissingCall}, {0, 1, 2, kMissingCall, 0}};
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(file.stride()));
  for (std::int64_t j = 0; j < 3; ++j) {
    file.read(j, 1, calls.data());
    for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(call_at(calls.data(), i), expected[j][i]);
  }
}

TEST_F(RecordCallsTest, LeavesOutOneBaseAsBothAlleles) {
  const RecordCalls found = read({"A 0/0 0|1 1/0 1|1 ./.", "a 0/0 0|1 1/0 1|1 ./.",
                                  "c 0/0 0|1 1/0 1|1 ./.", "A,A 0/0 0|1 1/0 1|1 ./."});
  EXPECT_EQ(found.not_snp, 2);
  EXPECT_EQ(found.multiallelic, 1);
  ASSERT_EQ(found.variants.counted.size(), 1U);
  EXPECT_EQ(found.variants.counted[0], "c");
}

TEST_F(RecordCallsTest, RefusesThreeAlleles) {
  EXPECT_THROW(read({"C 0/0 0/0 0/1/1 0/0 0/0"}), FormatError);
}

// Copies by DS in the order of records, or by calls where it is missing.
TEST_F(RecordCallsTest, GivesDosagesInTheUnitOfEachVariant) {
  const std::string text =
      "##fileformat=VCFv4.2\n##contig=<ID=1>\n"
      "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n"
      "##FORMAT=<ID=DS,Number=A,Type=Float,Description=\"Dosage\">\n"
      "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\n"
      "1\t7\tv\tA\tC\t.\t.\t.\tGT:DS\t0/1:0.905\t1:0.25\t0/1:.\n"
      "1\t8\tw\tA\tC\t.\t.\t.\tGT\t0/0\t1\t./.\n"
      "1\t9\tx\tA\tC\t.\t.\t.\tDS\t0.123456\t2\t.\n";
  JobControl control;
  const RecordCalls found =
      read_record_calls(dir_.write("x.vcf", text), {false, {"DS", "GP"}}, 1, control);
  EXPECT_EQ(found.dosages.field, "DS");
  EXPECT_EQ(found.genotypes.units, (std::vector<int>{1000, 1, kMostUnit}));
  EXPECT_EQ(found.genotypes.dosages,
            (std::vector<Dosage>{-95, -500, 0, -1, 1, kMissingDosage, 2023 - kMostUnit, kMostUnit,
                                 kMissingDosage}));
  EXPECT_EQ(found.dosages.rounded, 1);
  EXPECT_EQ(found.dosages.called, 3);
  // 0.905 is one copy, 0.5 and 0.123456 have no call.
  EXPECT_EQ(found.genotypes.calls,
            (std::vector<std::uint8_t>{1 | 3 << 2 | 1 << 4, 2 << 2 | 3 << 4, 3 | 2 << 2 | 3 << 4}));
}

}  // namespace
}  // namespace ancify
