// Checks tables of samples and variants, with and without headers, and errors in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/exec/errors.h"
#include "core/formats/genotype/sample_values.h"
#include "core/formats/genotype/tables.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

using Words = std::vector<std::string>;

Words words(const TextColumn& column) {
  Words all;
  for (std::size_t i = 0; i < column.size(); ++i) all.emplace_back(column[i]);
  return all;
}

SampleTable samples(const std::string& text) {
  const TempDir dir;
  return read_samples(dir.write("x", text), TaskContext());
}

SampleValues values(const std::string& text, bool factors = false) {
  const TempDir dir;
  return read_sample_values(dir.write("x", text), {{"NA", ".", "-9"}, "trait", factors},
                            TaskContext());
}

// Numbers, with 1e9 for a missing one.
std::vector<double> numbers(const ValueColumn& column) {
  std::vector<double> all = column.numbers;
  std::replace_if(
      all.begin(), all.end(), [](double x) { return std::isnan(x); }, 1e9);
  return all;
}

VariantTable variants(const std::string& text) {
  const TempDir dir;
  return read_variants(dir.write("x", text), TaskContext());
}

// Both kinds of tables from a text must be refused with this message.
template <class Read>
void expect_refused(Read read, const std::string& text, const std::string& why) {
  const auto message = message_of<FormatError>([&] { read(text); });
  EXPECT_NE(message.find(why), message.npos) << message;
}

TEST(SampleTable, HasTheColumnsOfAFam) {
  const auto table = samples("f1 i1 0 0 1 2.5\r\nf2\ti2  i1 0 2 -9 \t\r\n\r\nf1 i3 0 0 0 NA");
  EXPECT_EQ(words(table.family), (Words{"f1", "f2", "f1"}));
  EXPECT_EQ(words(table.id), (Words{"i1", "i2", "i3"}));
  EXPECT_TRUE(table.names.empty());
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(words(table.columns[0]), (Words{"0", "i1", "0"}));
  EXPECT_EQ(words(table.columns[3]), (Words{"2.5", "-9", "NA"}));
  EXPECT_EQ(table.lines, (std::vector<std::int64_t>{1, 2, 4}));
}

TEST(SampleTable, HasANamedColumnForEachOfAHeader) {
  for (const char* header : {"#FID\tIID\tSEX\tCD8", "FID IID SEX CD8",
                             "##v\n#more\nFID IID SEX CD8", "\xef\xbb\xbf#FID IID SEX CD8\r"}) {
    const auto table = samples(header + std::string("\nf1 i1 1 2.5\n"));
    EXPECT_EQ(words(table.family), Words{"f1"});
    EXPECT_EQ(words(table.id), Words{"i1"});
    EXPECT_EQ(table.names, (Words{"SEX", "CD8"}));
    EXPECT_EQ(words(table.columns[1]), Words{"2.5"});
  }
}

TEST(SampleTable, MayHaveNoFamilies) {
  for (const char* text : {"#IID SEX\ni1 1\ni2 2\n", "IID SEX\ni1 1\ni2 2\n"}) {
    const auto table = samples(text);
    EXPECT_EQ(words(table.family), (Words{"0", "0"}));
    EXPECT_EQ(words(table.id), (Words{"i1", "i2"}));
    EXPECT_EQ(table.names, Words{"SEX"});
    EXPECT_EQ(words(table.columns[0]), (Words{"1", "2"}));
  }
  EXPECT_EQ(words(samples("i1\ni2\n").id), (Words{"i1", "i2"}));
  EXPECT_EQ(words(samples("f1 i1\nf1 i2\n").family), (Words{"f1", "f1"}));
  // Without IID after it, FID is a family.
  EXPECT_EQ(words(samples("FID i1\n").id), Words{"i1"});
}

TEST(SampleTable, IsReadFromGzip) {
  EXPECT_EQ(words(samples(test::gzip("f1 i1\nf1 i2\n")).id), (Words{"i1", "i2"}));
}

TEST(SampleTable, NamesTheLineOfAFault) {
  expect_refused(samples, "f1 i1 1\nf1 i2\n",
                 "line 2: this line has 2 columns, but the lines before");
  expect_refused(samples, "FID IID CD8\nf1 i2\n", "line 2: this line has 2 columns, but");
  expect_refused(samples, "f1 i1\n\nf1 i1 1\n", "line 3: this line has 3 columns, but");
  expect_refused(samples, "f1 i1\nf2 i2\n\nf3 i1\n",
                 "line 4: the IID 'i1' is also in line 1. IIDs must be unique");
  expect_refused(samples, "f1 i1\nf1 \xff\n", "line 2: this line is not UTF-8 text");
  expect_refused(samples, std::string("f1 \0i1\n", 7), "line 1: this line is not UTF-8 text");
  for (const char* text : {"", "\n\n", "#FID IID\n", "# nothing\n"}) {
    expect_refused(samples, text, "there is no sample in this file");
  }
}

void expect_two_variants(const std::string& text) {
  const auto table = variants(text);
  EXPECT_EQ(words(table.chromosome), (Words{"1", "X"}));
  EXPECT_EQ(words(table.id), (Words{"rs1", "."}));
  EXPECT_EQ(table.position, (std::vector<std::int32_t>{100, -9}));
  EXPECT_EQ(words(table.counted), (Words{"A", "ACGT"}));
  EXPECT_EQ(words(table.other), (Words{"G", "T"}));
}

TEST(VariantTable, HasTheVariantsOfBimAndPvar) {
  expect_two_variants("1 rs1 0.5 100 A G\r\nX\t.\t0\t-9\tACGT\tT\r\n");
  expect_two_variants("1 rs1 100 A G\nX . -9 ACGT T");
  expect_two_variants("#CHROM POS ID REF ALT\n1 100 rs1 G A\nX -9 . T ACGT\n");
  expect_two_variants(
      "##fileformat=VCFv4.2\n##INFO=<ID=AC,Number=A>\n#CHROM\tID\tALT\tPOS\tINFO\tREF\n"
      "1\trs1\tA\t100\tAC=3\tG\nX\t.\tACGT\t-9\t.\tT\n");
  expect_two_variants(test::gzip("1 rs1 0.5 100 A G\nX . 0 -9 ACGT T\n"));
}

TEST(VariantTable, NamesTheLineOfAFault) {
  expect_refused(variants, "1 rs1 0 100 A\n\n1 rs2 0\n", "line 3: this line has 3 columns, but");
  expect_refused(variants, "1 rs1 0 100\n", "line 1: this line has 4 columns. A .bim has");
  expect_refused(variants, "1 rs1 0 100 A G x\n", "line 1: this line has 7 columns. A .bim has");
  for (const char* position :
       {"x", "1.5", "-", "--1", "2147483648", "-2147483648", "1e6", "0x10"}) {
    expect_refused(variants, "1 rs1 0 1 A G\n1 rs2 0 " + std::string(position) + " A G\n",
                   "line 2: the position '" + std::string(position) + "' is not a whole number");
  }
  EXPECT_EQ(variants("#CHROM POS ID REF ALT\n1 100 rs1 G A,T\n").counted[0], "A,T");
  for (const std::string name : {"POS", "ID", "REF", "ALT"}) {
    std::string header = "#CHROM POS ID REF ALT\n";
    header.replace(header.find(name), name.size(), "x");
    expect_refused(variants, header, "line 1: the header has no column " + name);
  }
  for (const char* text : {"", "##fileformat=VCFv4.2\n", "#CHROM POS ID REF ALT\n"}) {
    expect_refused(variants, text, "there is no variant in this file");
  }
  EXPECT_EQ(variants("1 rs1 0 2147483647 A G\n").position[0], 2147483647);
  EXPECT_EQ(variants("1 rs1 0 -2147483647 A G\n").position[0], -2147483647);
}

TEST(Tables, EndAtTheFirstWrongRow) {
  const TempDir dir;
  const std::string path = dir.write("x", "f a\nf b\nf a\nf b c d\n");
  EXPECT_NE(
      message_of<FormatError>([&] { read_samples(path, TaskContext()); }).find("line 3: the IID"),
      std::string::npos);
  EXPECT_NE(message_of<FormatError>([&] {
              read_samples(path, TaskContext(), 1);
            }).find("line 2: the genotypes have no room"),
            std::string::npos);
  const std::string bim = dir.write("y", "1 a 1 A C\n1 b 2 A C\n");
  EXPECT_EQ(read_variants(bim, TaskContext(), 2).id.size(), 2U);
  EXPECT_NE(message_of<FormatError>([&] {
              read_variants(bim, TaskContext(), 1);
            }).find("line 2: the genotypes have no room"),
            std::string::npos);
}

TEST(Tables, AreNotReadOnceTheJobIsStopped) {
  const TempDir dir;
  JobControl control;
  control.request_stop();
  const std::string path = dir.write("x", "f i\n");
  EXPECT_THROW(read_samples(path, TaskContext(control)), Interrupted);
  EXPECT_THROW(read_variants(path, TaskContext(control)), Interrupted);
  EXPECT_THROW(read_samples(dir.file("none"), TaskContext()), FileError);
}

TEST(SampleValues, AreNumbersWithMissingOnes) {
  const auto table = values("f i1 1.5 na\nf i2 -9.0 .\nf i3 1e3 -9\n");
  EXPECT_EQ(words(table.id), (Words{"i1", "i2", "i3"}));
  EXPECT_EQ(table.names, (Words{"trait1", "trait2"}));
  EXPECT_EQ(numbers(table.columns[0]), (std::vector<double>{1.5, 1e9, 1000}));
  EXPECT_EQ(numbers(table.columns[1]), (std::vector<double>{1e9, 1e9, 1e9}));
  EXPECT_EQ(values("#comment\nIID a\ni1 2\n").names, Words{"a"});
}

TEST(SampleValues, HaveTheSameMissingTextsInAllTables) {
  const TempDir dir;
  const std::string path =
      dir.write("x", "f a NaN\nf b nan\nf c .\nf d nA\nf e x\nf f 7.0\nf g -9\n");
  const auto table = read_sample_values(path, {{"X", "7"}, "t"}, TaskContext());
  EXPECT_EQ(numbers(table.columns[0]), (std::vector<double>{1e9, 1e9, 1e9, 1e9, 1e9, 1e9, -9}));
}

TEST(SampleValues, MayKeepFaultsOfColumns) {
  const TempDir dir;
  const ValueRules rules = {{}, "t", false, true};
  const std::string path = dir.write("x", "IID a b\ni1 1 2\ni2 x 3\ni3 y 4\n");
  const auto table = read_sample_values(path, rules, TaskContext());
  EXPECT_EQ(table.columns[0].fault, "'x' in line 3 of " + path + " is not a number");
  EXPECT_TRUE(table.columns[0].numbers.empty());
  EXPECT_EQ(numbers(table.columns[1]), (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(table.columns[1].fault, "");
  const std::string other = dir.write("y", "family mouse CD8 age\nf i1 1 2\n");
  EXPECT_NE(message_of<FormatError>([&] {
              read_sample_values(other, rules, TaskContext());
            }).find("line 1: this line has no number. A header must begin with FID IID"),
            std::string::npos);
}

TEST(SampleValues, MayBeLevels) {
  const auto table = values("IID sex age\na . 1\nb male 2\nc female -9\nd male 4\ne NA 5\n", true);
  const ValueColumn& sex = table.columns[0];
  EXPECT_EQ(words(sex.levels), (Words{"male", "female"}));
  EXPECT_EQ(sex.codes, (std::vector<std::int32_t>{0, 1, 2, 1, 0}));
  EXPECT_TRUE(sex.numbers.empty());
  EXPECT_EQ(numbers(table.columns[1]), (std::vector<double>{1, 2, 1e9, 4, 5}));
}

TEST(SampleValues, NameTheFirstTextAmongNumbers) {
  const auto alone = [](const std::string& text) { values(text); };
  const auto with_factors = [](const std::string& text) { values(text, true); };
  expect_refused(alone, "IID a\ni1 1\n\ni2 x\n", "line 4: 'x' in the column 'a' is not a number");
  expect_refused(with_factors, "IID a\ni1 .\ni2 x\ni3 y\ni4 1\n", "line 3: 'x' in the column");
  expect_refused(with_factors, "IID a\ni1 1\ni2 x\n", "line 3: 'x' in the column");
  expect_refused(alone, "family mouse CD8\nf i1 1\n", "A header must begin with FID IID");
  expect_refused(with_factors, "family mouse CD8\nf i1 1\n", "A header must begin with FID IID");
  expect_refused(alone, "IID a a\ni1 1 1\n", "line 1: the column 'a' has a name");
  expect_refused(alone, "IID id\ni1 1\n", "line 1: the column 'id' has a name");
  expect_refused(alone, "f i1\n", "line 1: there is no column of values");
  expect_refused(alone, "IID a\n", "there is no sample");
}

TEST(SampleRows, KnowEachIdAgain) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "f i" + std::to_string(i) + " 1\n";
  EXPECT_EQ(values(text).id.size(), 5000U);
  for (const int twice : {0, 17, 4999}) {
    const std::string again = text + "f i" + std::to_string(twice) + " 1\n";
    expect_refused([](const std::string& x) { values(x); }, again,
                   "line 5001: the IID 'i" + std::to_string(twice) + "' is also in line " +
                       std::to_string(twice + 1));
  }
}

}  // namespace
}  // namespace ancify
