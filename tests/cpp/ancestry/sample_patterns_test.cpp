// Checks the bases of outgroups among samples against slow counts, and files that disagree.
#include "core/ancestry/variants/sample_patterns.h"

#include <gtest/gtest.h>

#include <map>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

TEST(CombinedBase, TakesTheRecordWithAnAlt) {
  struct Row {
    char before;
    char base;
    char after;
  };
  // REF is A.
  const Row table[] = {{kNoRecord, kNoRecord, kNoRecord},
                       {kNoRecord, 'A', 'A'},
                       {kNoRecord, 'N', 'N'},
                       {'A', kNoRecord, 'A'},
                       {'A', 'A', 'A'},
                       {'A', 'C', 'C'},
                       {'A', 'N', 'N'},
                       {'C', kNoRecord, 'C'},
                       {'C', 'A', 'C'},
                       {'C', 'C', 'C'},
                       {'C', 'G', 'N'},
                       {'N', 'A', 'N'},
                       {'N', 'C', 'N'}};
  for (const auto& [before, base, after] : table) {
    EXPECT_EQ(combined_base(before, base, 'A'), after) << before << base;
  }
}

#ifdef ANCIFY_HAVE_HTSLIB

using test::message_of;
using test::TempDir;

std::string vcf(const std::string& samples, const std::string& records) {
  return "##fileformat=VCFv4.2\n##contig=<ID=chr1>\n##contig=<ID=1>\n##contig=<ID=chr2>\n"
         "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n"
         "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" +
         samples + "\n" + records;
}

std::string record(const std::string& place, const std::string& alleles,
                   const std::string& genotypes) {
  return place + "\t.\t" + alleles + "\t.\t.\t.\tGT\t" + genotypes + "\n";
}

std::map<std::string, std::int64_t> counts_of(const RecordPatterns& found) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& pattern : found.patterns()) counts[pattern.bases] += pattern.sites;
  return counts;
}

TEST(SamplePatterns, HasTheBaseOfMostHaplotypes) {
  TempDir dir;
  const std::string path =
      dir.write("a.vcf", vcf("x\ty\tz", record("chr1\t3", "A\tC", "0/0\t0/1\t1/1") +
                                            record("chr1\t5", "A\tC,G", "0/2\t2/2\t./.") +
                                            record("chr1\t6", "AC\tA", "0/0\t0/0\t1/1") +
                                            record("chr1\t7", "G\tT,GA", "1\t2/2\t2/2") +
                                            record("chr1\t9", "t\tC,*", "0/0\t2/2\t1|2") +
                                            record("chr2\t3", "A\tC", "./.\t.\t0/0")));
  JobControl control;
  SamplePatterns found(path, {{path, {"x"}}, {path, {"y", "z"}}}, 0, control);
  const std::map<std::string, std::int64_t> expected = {
      {"ACA", 1}, {"NGA", 1}, {"TNG", 1}, {"TCT", 1}, {"NAA", 1}};
  EXPECT_EQ(counts_of(found), expected);
  ASSERT_TRUE(found.at("chr1", 5));
  EXPECT_EQ(found.patterns()[*found.at("chr1", 5)].bases, "NGA");
  EXPECT_FALSE(found.at("chr1", 6));
  EXPECT_FALSE(found.at("chr1", 10));
  EXPECT_FALSE(found.at("chr3", 3));
}

TEST(SamplePatterns, JoinsFilesByPosition) {
  TempDir dir;
  const std::string variants = dir.write(
      "a.vcf", vcf("x", record("chr1\t3", "A\tC", "0/0") + record("chr1\t4", "A\tC", "1/1") +
                            record("chr1\t4", "A\tG", "0/0") + record("chr2\t4", "C\tT", "0/1")));
  // Other names, another order, positions of its own, and a record split by ALT
  const std::string apes = dir.write(
      "b.vcf", vcf("gorilla\tchimp",
                   record("chr2\t2", "A\tT", "1/1\t0/0") + record("chr2\t4", "C\tT", "0/0\t1/1") +
                       record("1\t4", "A\tT", "0/0\t1/1") + record("1\t4", "A\tC", "1/1\t0/0")));
  JobControl control;
  SamplePatterns found(variants, {{apes, {"chimp"}}, {apes, {"gorilla"}}, {variants, {"x"}}}, 0,
                       control);
  const std::map<std::string, std::int64_t> expected = {{"NNAA", 1}, {"TCCA", 1}, {"TCNC", 1}};
  EXPECT_EQ(counts_of(found), expected);
}

TEST(SamplePatterns, TakesReferenceBlocksUpToTheirEnd) {
  TempDir dir;
  const auto site = [](int position, const std::string& ref) {
    return record("chr1\t" + std::to_string(position), ref + "\tT", "0/1");
  };
  const std::string variants =
      dir.write("a.vcf", vcf("x", site(2, "A") + site(3, "C") + site(5, "G") + site(6, "A") +
                                      site(7, "C") + site(9, "G") + site(10, "A")));
  const auto block = [](int from, int to, const std::string& ref, const std::string& alt,
                        const std::string& samples) {
    return "1\t" + std::to_string(from) + "\t.\t" + ref + "\t" + alt +
           "\t.\t.\tEND=" + std::to_string(to) + "\tGT:GQ:DP:MIN_DP\t" + samples + "\n";
  };
  std::string text = vcf("chimp\tgorilla", "");
  const std::string declared =
      "##INFO=<ID=END,Number=1,Type=Integer,Description=\"x\">\n"
      "##FORMAT=<ID=GQ,Number=1,Type=Integer,Description=\"x\">\n"
      "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"x\">\n"
      "##FORMAT=<ID=MIN_DP,Number=1,Type=Integer,Description=\"x\">\n";
  text.insert(text.find("#CHROM"), declared);
  text += block(1, 2, "N", "<NON_REF>", "0/0:9:3:3\t0/0:0:3:3") +
          block(3, 5, "C", "<*>", "0/0:9:3:3\t./.:9:3:3") +
          // Within the block before, as after a merge: the ALT counts.
          block(5, 5, "G", "T,<NON_REF>", "1/1:9:3:3\t0/0:0:0:0") +
          block(6, 7, "A", ".", "0/0:.:0:3\t0/0:9:3:0") +
          block(8, 9, "T", "<NON_REF>", "0/0\t0:9:3:.");
  JobControl control;
  const std::string apes = dir.write("b.vcf", text);
  SamplePatterns found(variants, {{apes, {"chimp"}}, {apes, {"gorilla"}}}, 0, control);
  const std::vector<std::pair<int, std::string>> expected = {
      {2, "ANA"}, {3, "CNC"}, {5, "TGG"}, {6, "NNA"}, {7, "NNC"}, {9, "GGG"}, {10, "NNA"}};
  for (const auto& [position, bases] : expected) {
    EXPECT_EQ(found.patterns()[*found.at("chr1", position)].bases, bases) << position;
  }
  EXPECT_EQ(found.unsupported(), 1 + 2 + 2);
}

TEST(SamplePatterns, CountsTheAllelesOfOtherSamples) {
  TempDir dir;
  const std::string path =
      dir.write("a.vcf", vcf("x\ty\tape", record("chr1\t3", "A\tC", "0/0\t0/1\t1/1") +
                                              record("chr1\t5", "A\tC", "0/0\t0/0\t1/1") +
                                              record("chr1\t6", "A\tC", "0/1\t./.\t0/0") +
                                              record("chr1\t7", "A\tC", "0/1\t./.\t0/0") +
                                              record("chr1\t9", "A\tC", "0/1\t0/0\t0/0") +
                                              record("chr1\t9", "A\tG", "0/0\t0/1\t0/0")));
  JobControl control;
  SamplePatterns found(path, {{path, {"ape"}}}, 20, control);
  std::map<std::string, std::string> kinds;
  for (const auto& [bases, site, sites] : found.patterns()) {
    const std::string counts =
        site ? std::to_string(*site->copies) + "/" + std::to_string(site->haplotypes) : "none";
    kinds[bases + " " + counts] += std::to_string(sites);
  }
  const std::map<std::string, std::string> expected = {
      {"CA 1/4", "1"}, {"CA none", "1"}, {"AA 1/2", "2"}, {"AA none", "1"}};
  EXPECT_EQ(kinds, expected);
  EXPECT_NE(message_of<InputError>([&] {
              SamplePatterns(path, {{path, {"x", "y", "ape"}}}, 20, control);
            }).find("all are outgroups"),
            std::string::npos);
}

TEST(SamplePatterns, RefusesUnknownSamplesAndOtherGenomes) {
  TempDir dir;
  const std::string path = dir.write("a.vcf", vcf("x", record("chr1\t3", "A\tC", "0/0")));
  const std::string other = dir.write("b.vcf", vcf("y", record("chr1\t3", "G\tC", "0/0")));
  JobControl control;
  const auto read = [&](const std::string& file, const std::string& sample) {
    SamplePatterns(path, {{file, {sample}}}, 0, control);
  };
  const std::string unknown = message_of<InputError>([&] { read(path, "z"); });
  EXPECT_NE(unknown.find("has no sample 'z'"), std::string::npos);
  const std::string differs = message_of<FormatError>([&] { read(other, "y"); });
  EXPECT_NE(differs.find("b.vcf"), std::string::npos);
  EXPECT_NE(differs.find("REF is G, but A in the variants"), std::string::npos);
}

#endif

}  // namespace
}  // namespace ancify
