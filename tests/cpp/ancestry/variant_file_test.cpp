// Checks reading and annotating VCF and BCF: records, their order, and damaged files.
#include "core/formats/variant/variant_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "core/ancestry/comparison/evaluation.h"
#include "core/ancestry/variants/annotation.h"
#include "core/exec/errors.h"
#include "core/formats/interval/bed.h"
#include "core/genome/bases.h"
#include "support.h"

// htslib leaks a few bytes when it inflates a damaged file on other threads.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhts.so"; }

namespace ancify {
namespace {

using test::TempDir;

#ifdef ANCIFY_HAVE_HTSLIB

using test::message_of;

const std::string kHeader = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";

TEST(VariantReader, GivesRecordsOfPlainAndCompressedFiles) {
  TempDir dir;
  const std::string text =
      kHeader + "1\t5\t.\tA\tC,<DEL>\t.\t.\t.\n1\t5\t.\tACG\t.\t.\t.\t.\n2\t1\t.\tt\tg\t.\t.\tX=1";
  for (const auto& path : {dir.write("a", text), dir.write("b", test::gzip(text)),
                           dir.write("c", test::bgzip(text, 20))}) {
    for (const int threads : {0, 2}) {
      VariantReader reader(path, threads);
      EXPECT_TRUE(reader.declared().empty());
      ASSERT_TRUE(reader.next());
      EXPECT_EQ(reader.chromosome(), "1");
      EXPECT_EQ(reader.position(), 5);
      ASSERT_EQ(reader.alleles(), 3);
      EXPECT_EQ(reader.allele(2), "<DEL>");
      ASSERT_TRUE(reader.next());
      EXPECT_EQ(reader.alleles(), 1);
      ASSERT_TRUE(reader.next());
      EXPECT_EQ(reader.chromosome(), "2");
      EXPECT_EQ(reader.allele(0), "t");
      EXPECT_EQ(reader.records(), 3);
      EXPECT_FALSE(reader.next());
      EXPECT_EQ(reader.declared(), (std::vector<std::string>{"1", "2"}));
    }
  }
}

TEST(VariantReader, NoticesAtTheEndThatTheFileHasChanged) {
  TempDir dir;
  const std::string text = kHeader + "1\t5\t.\tA\tC\t.\t.\t.\n";
  for (const auto& content : {text, test::bgzip(text, 20)}) {
    const std::string path = dir.write("a", content);
    VariantReader reader(path);
    ASSERT_TRUE(reader.next());
    ASSERT_EQ(std::rename(dir.write("b", content).c_str(), path.c_str()), 0);
    EXPECT_THROW(reader.next(), FileError);
  }
}

TEST(VariantReader, TakesNamesForFilesOfThisMachine) {
  TempDir dir;
  for (const char* name : {"http://localhost:1/a.vcf", "s3://bucket/a.vcf"}) {
    EXPECT_THROW(VariantReader reader(name), InputError);
  }
  for (const char* name : {"-", "data:,x", "nowhere.vcf"}) {
    EXPECT_THROW(VariantReader reader(name), FileError);
  }
  EXPECT_THROW(VariantReader reader(dir.path()), FileError);
}

TEST(VariantReader, SaysWhichRecordAndLine) {
  TempDir dir;
  const auto message = [&](const std::string& records) {
    const std::string path = dir.write("v.vcf", kHeader + records);
    return message_of<FormatError>([&] {
      VariantReader reader(path);
      while (reader.next()) {
      }
    });
  };
  EXPECT_NE(message("1\t5\t.\tA\tC\t.\t.\t.\n1\t4\t.\tA\tC\t.\t.\t.\n").find("line 4: record 2"),
            std::string::npos);
  EXPECT_NE(message("1\t5\t.\tA\tC\t.\t.\n").find("7 of the 8"), std::string::npos);
  EXPECT_NE(message("\n").find("record 1"), std::string::npos);
  EXPECT_NE(message("1\t-5\t.\tA\tC\t.\t.\t.\n").find("'-5'"), std::string::npos);
  EXPECT_NE(message("1\t5\t.\tA\tC\tx\t.\t.\n").find("QUAL is 'x'"), std::string::npos);
  EXPECT_NE(message("1\t5\t.\t\tC\t.\t.\t.\n").find("REF is empty"), std::string::npos);
  using namespace std::string_literals;
  EXPECT_NE(message("1\t5\t.\tA\tC\t.\t.\tX=\0\n"s).find("record 1: byte 17 of the line is a NUL"),
            std::string::npos);
}

TEST(VariantReader, RefusesPositionsBehindTheLengthDeclared) {
  TempDir dir;
  const auto records = [&](const std::string& contig, const std::string& position) {
    const std::string path = dir.write(
        "v.vcf", "##fileformat=VCFv4.2\n##contig=<ID=1" + contig + ">\n##contig=<ID=2,length=9>\n" +
                     kHeader.substr(kHeader.find("#CHROM")) + "1\t" + position +
                     "\t.\tA\tC\t.\t.\t.\n2\t9\t.\tA\tC\t.\t.\t.\n");
    VariantReader reader(path);
    while (reader.next()) {
    }
    return reader.records();
  };
  EXPECT_EQ(records(",length=100", "100"), 2);
  EXPECT_EQ(records(",length=100", "0"), 2);
  EXPECT_EQ(records("", "101"), 2);
  EXPECT_EQ(records(",length=4294967296", "4294967296"), 2);
  const std::string message = message_of<FormatError>([&] { records(",length=100", "101"); });
  for (const char* text : {"v.vcf', line 5: record 1", "position 101 of '1'", "length=100"}) {
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
}

TEST(VariantReader, FindsDamageInBlocksThatEndInALine) {
  TempDir dir;
  std::string text = kHeader;
  for (int i = 1; i <= 300; ++i) {
    text += "1\t" + std::to_string(i) + "\t.\tA\tC\t3e1\t.\tDP=1;END=" + std::to_string(i) + "\n";
  }
  for (const std::size_t size : {97, 1000, 4096}) {
    const std::string good = test::bgzip(text, size);
    for (std::size_t at = 0; at < text.size(); at += size) {
      // Flip one bit of this block's checksum.
      const std::size_t end =
          test::bgzip(text.substr(0, at + size), size).size() - test::bgzf_block("").size();
      std::string damaged = good;
      damaged[end - 8] ^= 1;
      const std::string path = dir.write("v.vcf.gz", damaged);
      for (const int threads : {0, 2}) {
        EXPECT_THROW(
            {
              VariantReader reader(path, threads);
              while (reader.next()) {
              }
            },
            FormatError)
            << size << " bytes, block at " << at;
      }
    }
  }
}

const std::string kSamples =
    "##fileformat=VCFv4.2\n"
    "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">\n"
    "##INFO=<ID=AA_prob,Number=1,Type=Float,Description=\"p\">\n"
    "##INFO=<ID=AA_post,Number=4,Type=Float,Description=\"q\">\n"
    "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"d\">\n"
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">\n"
    "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"d\">\n"
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tone\ttwo words\tthree\n";

TEST(VariantReader, GivesAllelesOfSamples) {
  TempDir dir;
  std::string text = kSamples;
  const auto add = [&](const std::string& alt, const std::string& genotypes) {
    text += "1\t7\t.\tA\t" + alt + "\t.\t.\t.\t" + genotypes + "\n";
  };
  add("C", "GT\t0|1\t1/0\t1/1");
  add("C,G", "DP:GT\t7:./2\t1:0\t.:.");
  add("C", "GT:DP\t0/0/1:1\t.:.\t.|.");
  add("C", "DP\t1\t2\t3");
  add("C", ".\t.\t.\t.");
  std::string many = "C";
  for (int i = 0; i < 200; ++i) many += ",<X" + std::to_string(i) + ">";
  add(many, "GT\t200/201\t0\t3/.");
  constexpr int none = kNoAllele;
  constexpr int missing = kMissingAllele;
  const std::vector<std::vector<int>> expected = {
      {0, 1, 1, 0, 1, 1},
      {missing, 2, 0, none, missing, none},
      {0, 0, 1, missing, none, none, missing, missing, none},
      {},
      {},
      {200, 201, 0, none, 3, missing}};
  for (const auto& path : {dir.write("a", text), dir.write("b", test::bgzip(text, 100))}) {
    VariantReader reader(path, 0, RecordParts::kGenotypes);
    EXPECT_EQ(reader.samples(), (std::vector<std::string>{"one", "two words", "three"}));
    for (const auto& alleles : expected) {
      ASSERT_TRUE(reader.next());
      EXPECT_EQ(reader.genotypes().alleles, alleles);
      EXPECT_EQ(reader.genotypes().ploidy * 3, static_cast<int>(alleles.size()));
    }
    EXPECT_FALSE(reader.next());
  }
  VariantReader reader(dir.write("none", kHeader + "1\t7\t.\tA\tC\t.\t.\t.\n"), 0,
                       RecordParts::kGenotypes);
  EXPECT_TRUE(reader.samples().empty());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.genotypes().ploidy, 0);
}

TEST(VariantReader, RefusesGenotypesThatCannotBe) {
  TempDir dir;
  const auto message = [&](const std::string& genotypes) {
    const std::string path =
        dir.write("v.vcf", kSamples + "1\t7\t.\tA\tC\t.\t.\t.\tGT\t" + genotypes + "\n");
    return message_of<FormatError>([&] {
      VariantReader reader(path, 0, RecordParts::kGenotypes);
      while (reader.next()) reader.genotypes();
    });
  };
  EXPECT_NE(message("0/1\t0/2\t0/0").find("line 9: record 1: sample 'two words' has the allele 2"),
            std::string::npos);
  for (const char* wrong : {"0/1\t0/999999\t0/0", "0/1\tx\t0/0", "0/1\t-2\t0/0", "0/1\t0/1",
                            "0/1\t0/99999999999\t0/0", "", "0/1\t0/1\t0/0\t0/0", "0/1\t0 1\t0/0"}) {
    EXPECT_NE(message(wrong).find("record 1"), std::string::npos) << wrong;
  }
}

TEST(VariantReader, GivesCountsOfInfo) {
  TempDir dir;
  std::string text = "##fileformat=VCFv4.2\n";
  for (const char* id : {"AC", "AN"}) {
    text += "##INFO=<ID=" + std::string(id) + ",Number=.,Type=Integer,Description=\"x\">\n";
  }
  text += "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
  struct Wanted {
    std::string alt;
    std::string info;
    std::int64_t copies;  // -1 for none
    std::int64_t called;
  };
  const std::vector<Wanted> wanted = {
      {"C", ".", -1, 0},
      {"C", "AC=3;AN=9", 3, 9},
      {"C", "AC=70000;AN=70000", 70000, 70000},
      {"C", "AC=.;AN=9", -1, 0},
      {"C", "AC=3,4;AN=9", -1, 0},
      {"C", "AC=-1;AN=9", -1, 0},
      {"C", "AC;AN=9", -1, 0},
      {"C", "AN=5", -1, 0},
      {"C", "AC=0;AN=0", 0, 0},
      {"C,*", "AC=3,4;AN=9", 3, 5},
      {"*,C", "AC=3,4;AN=9", 4, 6},
      {"<NON_REF>,C,*", "AC=0,4,1;AN=9", 4, 8},
      {"C,*", "AC=3;AN=9", -1, 0},
      {"C,*", "AC=3,.;AN=9", -1, 0},
      {"*", "AC=3;AN=9", -1, 0},
  };
  for (const auto& [alt, info, copies, called] : wanted) {
    text += "1\t7\t.\tA\t" + alt + "\t.\t.\t" + info + "\n";
  }
  for (const char* wrong : {"AC=3x;AN=9", "AC=3;AN=2", "AC=3;AN=9;AC=3"}) {
    text += "1\t7\t.\tA\tC\t.\t.\t" + std::string(wrong) + "\n";
  }
  VariantReader reader(dir.write("v.vcf", text), 0, RecordParts::kInfo);
  for (const auto& [alt, info, copies, called] : wanted) {
    ASSERT_TRUE(reader.next());
    const auto found = reader.info_counts();
    ASSERT_EQ(found.has_value(), copies >= 0) << alt << " " << info;
    if (!found) continue;
    EXPECT_EQ(found->copies, copies) << alt << " " << info;
    EXPECT_EQ(found->called, called) << alt << " " << info;
  }
  while (reader.next()) EXPECT_THROW(reader.info_counts(), FormatError);
}

TEST(VariantReader, EndsAtEndOrWithRef) {
  TempDir dir;
  const std::string header =
      "##fileformat=VCFv4.2\n##contig=<ID=1>\n##INFO=<ID=DP,Number=1,Type=Integer,Description="
      "\"x\">\n";
  const std::string columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
  const std::string declared = "##INFO=<ID=END,Number=1,Type=Integer,Description=\"x\">\n";
  const std::string as_text = "##INFO=<ID=END,Number=1,Type=String,Description=\"x\">\n";
  struct Row {
    std::string ref;
    std::string info;
    std::int64_t end;  // -1 for an error
  };
  const std::vector<Row> rows = {{"A", ".", 7},        {"ACG", "DP=3", 9},
                                 {"A", "END=7", 7},    {"A", "DP=3;END=70000", 70000},
                                 {"ACG", "END=8", 8},  {"A", "END=6", -1},
                                 {"A", "END=1e3", -1}, {"A", "END=8,9", -1},
                                 {"A", "END=.", -1},   {"A", "END=8;END=9", -1}};
  std::string text = header + declared + columns;
  for (const auto& row : rows) text += "1\t7\t.\t" + row.ref + "\t<*>\t.\t.\t" + row.info + "\n";
  VariantReader reader(dir.write("v.vcf", text), 0, RecordParts::kInfo);
  for (const auto& row : rows) {
    ASSERT_TRUE(reader.next());
    if (row.end < 0) {
      EXPECT_THROW(reader.end(), FormatError) << row.info;
    } else {
      EXPECT_EQ(reader.end(), row.end) << row.info;
    }
  }
  const std::string record = "1\t7\t.\tA\t<*>\t.\t.\tEND=9\n";
  for (const std::string& other : {std::string(), as_text}) {
    VariantReader undeclared(dir.write("u.vcf", header + other + columns + record), 0,
                             RecordParts::kInfo);
    ASSERT_TRUE(undeclared.next());
    EXPECT_THROW(undeclared.end(), FormatError);
  }
}

std::string with_fields(const std::vector<std::string>& declarations, const std::string& record) {
  std::string text = "##fileformat=VCFv4.2\n";
  for (const auto& declared : declarations) {
    text += "##INFO=<ID=" + declared + ",Description=\"x\">\n";
  }
  return text + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + record;
}

TEST(VariantReader, CountsAllelesOfPopulationsInInfo) {
  const TempDir dir;
  const CountFields fields = {"AC_afr", "AN_afr"};
  const std::string path = dir.write(
      "v.vcf", with_fields({"AC_afr,Number=A,Type=Integer", "AN_afr,Number=1,Type=Integer"},
                           "1\t7\t.\tA\tC\t.\t.\tAC_afr=3;AN_afr=9;AC=1;AN=2\n"
                           "1\t8\t.\tA\tC,*\t.\t.\tAN_afr=1500000;AC_afr=3,4\n"
                           "1\t9\t.\tA\tC\t.\t.\tAC_afr=5;AN_afr=3\n"
                           "1\t9\t.\tA\tC\t.\t.\tAC_afr=5\n"));
  VariantReader reader(path, 0, RecordParts::kInfo);
  reader.require_declared(fields);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.stated_counts(fields)->copies, 3);
  EXPECT_EQ(reader.stated_counts(fields)->called, 9);
  EXPECT_FALSE(reader.stated_counts({"AC_nfe", "AN_nfe"}).has_value());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.info_counts(fields)->copies, 3);
  EXPECT_EQ(reader.info_counts(fields)->called, 1499996);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.stated_counts(fields)->copies, 5);
  EXPECT_THROW(reader.info_counts(fields), FormatError);
  ASSERT_TRUE(reader.next());
  EXPECT_FALSE(reader.stated_counts(fields).has_value());
}

TEST(VariantReader, RequiresCountsToBeDeclared) {
  const TempDir dir;
  const std::string copies = "AC_x,Number=A,Type=Integer";
  const std::string called = "AN_x,Number=1,Type=Integer";
  const auto fault = [&](const std::vector<std::string>& declarations) -> std::string {
    const VariantReader reader(dir.write("v.vcf", with_fields(declarations, "")), 0,
                               RecordParts::kInfo);
    try {
      reader.require_declared({"AC_x", "AN_x"});
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault({copies, called}), "");
  for (const char* wrong : {"AC_x,Number=1,Type=Integer", "AC_x,Number=.,Type=Integer",
                            "AC_x,Number=R,Type=Integer", "AC_x,Number=A,Type=Float"}) {
    EXPECT_NE(fault({wrong, called}).find("'AC_x'"), std::string::npos) << wrong;
  }
  for (const char* wrong : {"AN_x,Number=A,Type=Integer", "AN_x,Number=2,Type=Integer",
                            "AN_x,Number=1,Type=String", "AN_y,Number=1,Type=Integer"}) {
    EXPECT_NE(fault({copies, wrong}).find("'AN_x'"), std::string::npos) << wrong;
  }
  for (const char* other : {"AC_y,Number=A,Type=Integer", "AC_y,Number=A,Type=Integer,IDX=9"}) {
    EXPECT_NE(fault({other, called}).find("'AC_y'"), std::string::npos) << other;
  }
}

TEST(VariantReader, LeavesOutAltsThatAreNoAlleles) {
  for (const char* alt : {"*", "<*>", "<NON_REF>", "<X>"}) EXPECT_TRUE(is_no_allele(alt)) << alt;
  for (const char* alt : {"A", "N", "<DEL>", "<X", "", "**", "."}) {
    EXPECT_FALSE(is_no_allele(alt)) << alt;
  }
  struct Wanted {
    std::string alt;
    std::vector<std::string> alleles;
    std::vector<int> stored;
    std::vector<int> genotypes;  // of 0/1, 1|2, 2/.
  };
  const int no = kMissingAllele;
  const std::vector<Wanted> wanted = {
      {"A,*", {"T", "A"}, {0, 1}, {0, 1, 1, no, no, no}},
      {"*,A", {"T", "A"}, {0, 2}, {0, no, no, 1, 1, no}},
      {"<*>,<NON_REF>", {"T"}, {0}, {0, no, no, no, no, no}},
      {"A,<X>,C", {"T", "A", "C"}, {0, 1, 3}, {0, 1, 1, no, no, no}},
      {"A,<DEL>", {"T", "A", "<DEL>"}, {0, 1, 2}, {0, 1, 1, 2, 2, no}},
  };
  TempDir dir;
  std::string text = kSamples;
  for (const auto& record : wanted) {
    text += "1\t1\t.\tT\t" + record.alt + "\t.\t.\t.\tGT\t0/1\t1|2\t2/.\n";
  }
  VariantReader reader(dir.write("v.vcf", text), 0, RecordParts::kGenotypes);
  for (const auto& record : wanted) {
    ASSERT_TRUE(reader.next());
    ASSERT_EQ(reader.alleles(), static_cast<int>(record.alleles.size())) << record.alt;
    for (int i = 0; i < reader.alleles(); ++i) {
      EXPECT_EQ(reader.allele(i), record.alleles[static_cast<std::size_t>(i)]) << record.alt;
      EXPECT_EQ(reader.stored_index(i), record.stored[static_cast<std::size_t>(i)]) << record.alt;
    }
    EXPECT_EQ(reader.genotypes().alleles, record.genotypes) << record.alt;
  }
}

TEST(VariantReader, GivesFieldsOfInfo) {
  TempDir dir;
  std::string text = kSamples;
  for (const char* info :
       {".", "AA=c;AA_prob=0.25;AA_post=0,0.25,.,1e-2", "DP=3;AA=.;AA_prob=.", "AA=T|||;AA_prob"}) {
    text += "1\t7\t.\tA\tC\t.\t.\t" + std::string(info) + "\tGT\t0\t0\t0\n";
  }
  VariantReader reader(dir.write("v.vcf", text), 0, RecordParts::kInfo);
  ASSERT_TRUE(reader.next());
  EXPECT_FALSE(reader.info_text("AA"));
  EXPECT_FALSE(reader.info_text("never"));
  EXPECT_TRUE(reader.info_numbers("AA_prob").empty());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.info_text("AA"), "c");
  EXPECT_EQ(reader.info_numbers("AA_prob"), std::vector<float>{0.25F});
  const std::vector<float> post = reader.info_numbers("AA_post");
  ASSERT_EQ(post.size(), 4U);
  EXPECT_EQ(post[1], 0.25F);
  EXPECT_TRUE(std::isnan(post[2]));
  EXPECT_THROW(reader.info_text("AA_prob"), FormatError);
  EXPECT_THROW(reader.info_numbers("AA"), FormatError);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.info_text("AA"), ".");
  EXPECT_TRUE(reader.info_numbers("AA_prob").empty());
  EXPECT_THROW(reader.info_text("DP"), FormatError);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.info_text("AA"), "T|||");
  EXPECT_FALSE(reader.next());

  VariantReader twice(
      dir.write("v.vcf", kSamples + "1\t7\t.\tA\tC\t.\t.\tAA=C;DP=1;AA=T\tGT\t0\t0\t0\n"), 0,
      RecordParts::kInfo);
  ASSERT_TRUE(twice.next());
  EXPECT_TRUE(twice.info_numbers("AA_prob").empty());
  const auto message = message_of<FormatError>([&] { twice.info_text("AA"); });
  EXPECT_NE(message.find("AA is in INFO more than once"), message.npos) << message;

  for (const char* number : {"x", "0.5x", "nan", "0.5,x", "1e99999"}) {
    const std::string record = "1\t7\t.\tA\tC\t.\t.\tAA_prob=" + std::string(number) + ";DP=1\tGT";
    VariantReader wrong(dir.write("v.vcf", kSamples + record + "\t0\t0\t0\n"), 0,
                        RecordParts::kInfo);
    ASSERT_TRUE(wrong.next());
    EXPECT_THROW(wrong.info_numbers("AA_prob"), FormatError) << number;
  }
}

TEST(Evaluate, ReadsEachFileOnceForAllItsChromosomes) {
  TempDir dir;
  const std::string variants = dir.write(
      "v.vcf",
      kHeader + "chr1\t1\t.\tA\tC\t.\t.\t.\nchr1\t4\t.\tA\tG\t.\t.\t.\n2\t2\t.\tC\tA,T\t.\t.\t.\n");
  const std::vector<ChromosomeToEvaluate> chromosomes = {
      {"chr1", 4, dir.write("1.fa", ">chr1\nACgN\n"), dir.write("r.fa", ">x\nA-\nTa\n"), variants},
      {"chr2", 2, dir.write("2.fa", ">chr2\nnt\n"), "", variants}};
  for (const int threads : {1, 4}) {
    JobControl control;
    const auto results = evaluate(chromosomes, threads, best_simd_level(), control);
    EXPECT_EQ(results[0].calls.high, 2);
    EXPECT_EQ(results[0].agreement.both, 2);
    EXPECT_EQ(results[0].agreement.equal, 1);
    EXPECT_EQ(results[0].variants.variants, 2);
    EXPECT_EQ(results[0].variants.ref, 1);
    EXPECT_EQ(results[0].variants.missing, 1);
    EXPECT_EQ(results[1].variants.alt, 1);
    EXPECT_EQ(results[1].agreement.first, 0);
  }
}

TEST(AnnotateVariants, KeepsRecordsAndCountsReasons) {
  TempDir dir;
  const std::string records =
      "1\t1\t.\tA\tC\t.\t.\t.\n1\t2\t.\tA\tC\t.\t.\tAA=T;X=1\n1\t3\t.\tAC\tC\t.\t.\t.\n";
  AnnotationOptions options;
  options.variants = dir.write("v.vcf", kHeader + records);
  options.output = dir.file("out.vcf");
  options.chromosomes = {"1"};
  options.ancestral = {{"", dir.write("a.fa", ">chr1\ncN\nA\n>2\nA\n")}};
  options.mask = dir.write("m.bed", "1\t2\t3\n#\nchr1\t1\t2\nchr1\t0\t0\n");
  JobControl control;
  const auto report = annotate_variants(options, control);
  EXPECT_EQ(report.chromosomes.at(0).sequence, "chr1");
  EXPECT_EQ(report.chromosomes.at(0).records, 3);
  const std::string text = test::read_file(options.output);
  EXPECT_NE(text.find("##contig=<ID=1>"), std::string::npos);
  EXPECT_NE(text.find("1\t1\t.\tA\tC\t.\t.\tAA=c;AA_reason=LOW\n"
                      "1\t2\t.\tA\tC\t.\t.\tX=1;AA_reason=MASKED\n"
                      "1\t3\t.\tAC\tC\t.\t.\tAA_reason=INDEL\n"),
            std::string::npos)
      << text;

  options.ancestral.front().path = dir.write("short.fa", ">1\nA\n");
  options.output = dir.file("other.vcf");
  EXPECT_THROW(annotate_variants(options, control), FormatError);
  EXPECT_EQ(dir.entries(), 5U);
  options.output = dir.file("other.txt");
  EXPECT_THROW(annotate_variants(options, control), InputError);
}

TEST(AnnotateVariants, ExchangesAllelesWhereAltIsAncestral) {
  TempDir dir;
  const std::string header =
      "##fileformat=VCFv4.2\n"
      "##INFO=<ID=AC,Number=A,Type=Integer,Description=\"\">\n"
      "##INFO=<ID=AN,Number=1,Type=Integer,Description=\"\">\n"
      "##INFO=<ID=XA,Number=A,Type=Integer,Description=\"\">\n"
      "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">\n"
      "##FORMAT=<ID=AD,Number=R,Type=Integer,Description=\"\">\n"
      "##FORMAT=<ID=PL,Number=G,Type=Integer,Description=\"\">\n"
      "##FORMAT=<ID=XR,Number=R,Type=String,Description=\"\">\n"
      "##FORMAT=<ID=XG,Number=G,Type=Float,Description=\"\">\n"
      "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\n";
  const std::string record =
      "1\t1\t.\tA\tC\t.\t.\tXA=3;AC=1;AN=3\tGT:AD:PL:XR:XG\t"
      "0|1:7,300:0,30,70000:x,yz:0.5,.,-2\t.:.:.:.:.\t0:1,.:9,8:u,.:1,2\n";
  AnnotationOptions options;
  options.variants = dir.write("v.vcf", header + record + "1\t2\t.\tA\tC,G\t.\t.\tXA=1,2\n");
  options.output = dir.file("out.vcf");
  options.chromosomes = {"1"};
  options.ancestral = {{"", dir.write("a.fa", ">1\ncC\n")}};
  options.polarise = true;
  JobControl control;
  EXPECT_THROW(annotate_variants(options, control), FormatError);  // the record lacks its samples
  options.variants = dir.write("v.vcf", header + record);
  const auto report = annotate_variants(options, control);
  EXPECT_EQ(report.swapped, 1);
  EXPECT_EQ(report.dropped, (std::map<std::string, std::int64_t>{{"INFO/XA", 1}}));
  const std::string text = test::read_file(options.output);
  EXPECT_NE(text.find("1\t1\t.\tC\tA\t.\t.\tAC=2;AN=3;AA=c;AA_reason=LOW;AA_old_ref=A\t"
                      "GT:AD:PL:XR:XG\t1|0:300,7:70000,30,0:yz,x:-2,.,0.5\t.:.:.:.:.\t"
                      "1:.,1:8,9:.,u:2,1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n##ancify_polarised="), std::string::npos);
}

TEST(AnnotateVariants, KeepsFlagsOrDropsRecordsThatCannotBePolarised) {
  TempDir dir;
  const std::string header =
      "##fileformat=VCFv4.2\n##FILTER=<ID=q10,Description=\"\">\n"
      "##FILTER=<ID=NOT_POLARISED,Description=\"of an earlier call\">\n##contig=<ID=1>\n" +
      kHeader.substr(kHeader.find("#CHROM"));
  AnnotationOptions options;
  options.variants = dir.write(
      "v.vcf", header +
                   "1\t1\t.\tA\tC\t.\tq10;NOT_POLARISED\t.\n1\t2\t.\tA\tC\t.\tNOT_POLARISED\t."
                   "\n1\t3\t.\tA\tC\t.\t.\t.\n1\t4\t.\tA\tC\t.\tPASS\t.\n"
                   "1\t5\t.\tA\tC,G\t.\tq10\t.\n1\t6\t.\tA\tC\t.\tPASS\t.\n");
  options.chromosomes = {"1"};
  options.ancestral = {{"", dir.write("a.fa", ">1\nCANGCA\n")}};
  options.polarise = true;
  // The column FILTER of each record
  const auto filters = [&](Unpolarised unpolarised) {
    options.unpolarised = unpolarised;
    options.output = dir.file("out.vcf");
    JobControl control;
    const auto report = annotate_variants(options, control);
    EXPECT_EQ(report.not_polarised, 3);
    EXPECT_EQ(report.swapped, 1);
    std::vector<std::string> found;
    std::istringstream text(test::read_file(options.output));
    for (std::string line; std::getline(text, line);) {
      if (line.front() == '#') continue;
      std::istringstream columns(line);
      std::string column;
      for (int i = 0; i < 7; ++i) std::getline(columns, column, '\t');
      found.push_back(column);
    }
    return found;
  };
  using Filters = std::vector<std::string>;
  EXPECT_EQ(filters(Unpolarised::kKeep),
            (Filters{"q10;NOT_POLARISED", "NOT_POLARISED", ".", "PASS", "q10", "PASS"}));
  EXPECT_EQ(filters(Unpolarised::kFlag), (Filters{"q10", "PASS", "NOT_POLARISED", "NOT_POLARISED",
                                                  "q10;NOT_POLARISED", "PASS"}));
  const std::string text = test::read_file(options.output);
  EXPECT_EQ(text.find("of an earlier call"), std::string::npos);
  EXPECT_NE(text.find("##FILTER=<ID=NOT_POLARISED,"), std::string::npos);
  EXPECT_EQ(filters(Unpolarised::kDrop), (Filters{"q10;NOT_POLARISED", "NOT_POLARISED", "PASS"}));
}

TEST(AnnotateVariants, HasPosteriorsOfAHistory) {
  TempDir dir;
  AnnotationOptions options;
  options.variants =
      dir.write("v.vcf",
                "##fileformat=VCFv4.2\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">\n"
                "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\n"
                "1\t2\t.\tA\tC\t.\t.\t.\tGT\t0|1\t./0\t1\n1\t3\t.\tA\tC\t.\t.\t.\tGT\t0\t0\t1\n");
  options.output = dir.file("out.vcf");
  options.chromosomes = {"1"};
  options.ancestral = {{"", dir.write("a.fa", ">1\nNAA\n")}};
  const MutationModel model = mutation_model(SubstitutionRates{}, 1e-8);
  const History history = {1e4, 20, {{2e5, 1, 0, 5e4}, {4e5, 2, 0, 5e4}}};
  options.history.emplace();
  options.history->history = history;
  options.history->models = {model};
  options.history->outgroups["1"] = {{"chr1", dir.write("x.fa", ">chr1\nNgN\n")},
                                     {"chr1", dir.write("y.fa", ">chr1\nNAN\n")}};
  JobControl control;
  EXPECT_EQ(annotate_variants(options, control).posteriors, 1);
  const auto expected = polarise(history, {model}, {{2 + 5 * 0, {0, 1}, 4, 2}}, control)[0];
  VariantReader reader(options.output, 0, RecordParts::kInfo);
  ASSERT_TRUE(reader.next());
  const auto posteriors = reader.info_numbers("AA_post");
  ASSERT_EQ(posteriors.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(posteriors[i], expected[i], 1e-6);
  EXPECT_NEAR(reader.info_numbers("AA_prob").at(0), expected[0], 1e-6);
  ASSERT_TRUE(reader.next());
  EXPECT_TRUE(reader.info_numbers("AA_post").empty());

  options.history->samples = {"a", "z"};
  EXPECT_THROW(annotate_variants(options, control), InputError);
}

#else

TEST(VariantReader, IsAnErrorInABuildWithoutHtslib) {
  TempDir dir;
  EXPECT_EQ(htslib_version(), "");
  EXPECT_THROW(VariantReader reader(dir.write("v.vcf", "")), InputError);
}

#endif

TEST(ReadBed, SortsAndJoins) {
  TempDir dir;
  const auto read = [&](const std::string& text) {
    return read_bed(dir.write("a.bed", text), TaskContext());
  };
  const auto regions = read("browser x\nchr1\t5\t9\tname\n\nchr1 1 5\r\nchr2\t0\t0\nchr1\t20\t30");
  ASSERT_EQ(regions.at("chr1").size(), 2U);
  EXPECT_EQ(regions.at("chr1")[0].start, 1);
  EXPECT_EQ(regions.at("chr1")[0].end, 9);
  EXPECT_EQ(regions.at("chr2")[0].end, 0);
  for (const char* bad : {"chr1\t5\n", "chr1\t5\t4\n", "chr1\t-1\t4\n"}) {
    EXPECT_THROW(read(bad), FormatError) << bad;
  }
}

TEST(CountAgreement, IsThatOfAPlainLoopAtEveryLevel) {
  const std::string letters = "ACGTacgtNn-.R";
  std::string first;
  std::string second;
  for (std::size_t i = 0; i < 1000; ++i) {
    first += letters[i * i % 13];
    second += letters[(i * 7 + i / 5) % 13];
  }
  for (const std::size_t n : {0, 1, 127, 128, 129, 1000}) {
    AgreementCounts expected;
    for (std::size_t i = 0; i < n; ++i) {
      const bool a = base_code(first[i]) != kMissing;
      const bool b = base_code(second[i]) != kMissing;
      expected += {a, b, a && b, a && base_code(first[i]) == base_code(second[i])};
    }
    for (const auto level : test::simd_levels()) {
      const auto counts = count_agreement(first.data(), second.data(), n, level);
      EXPECT_EQ(counts.first, expected.first);
      EXPECT_EQ(counts.second, expected.second);
      EXPECT_EQ(counts.both, expected.both);
      EXPECT_EQ(counts.equal, expected.equal);
    }
  }
}

}  // namespace
}  // namespace ancify
