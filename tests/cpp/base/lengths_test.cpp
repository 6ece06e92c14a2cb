// Checks reading chromosome lengths.
#include "core/genome/lengths.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"
#include "support.h"
#include "twobit_files.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

std::string as_text(const std::vector<Chromosome>& chromosomes) {
  std::string text;
  for (const auto& [name, length] : chromosomes) text += name + "=" + std::to_string(length) + ";";
  return text;
}

TEST(ChromosomeLengths, ReadsTabsBlanksCommentsAndMoreColumns) {
  TempDir dir;
  const std::string text =
      "# a comment\nchr1\t100\n\n  chr2   50  \r\n#chr3 7\nX\t3000000000\t5\t60\t61\n2L 1";
  const std::string expected = "chr1=100;chr2=50;X=3000000000;2L=1;";
  EXPECT_EQ(as_text(read_chromosome_lengths(dir.write("sizes", text))), expected);
  EXPECT_EQ(as_text(read_chromosome_lengths(dir.write("sizes.gz", test::gzip(text)))), expected);
}

TEST(ChromosomeLengths, AreThoseOfATwoBitGenome) {
  TempDir dir;
  const test::Genome genome = {{"chr2", "ACGTN"}, {"empty", ""}, {"chr1", "acg"}};
  const auto write = [&](const test::Genome& sequences) {
    return dir.write("genome.2bit", test::TwoBitWriter(true, 0).file(sequences));
  };
  EXPECT_EQ(as_text(read_chromosome_lengths(write(genome))), "chr2=5;chr1=3;");
  const std::string path = write({{"a/b", "ACGT"}});
  EXPECT_NE(message_of<FormatError>([&] { read_chromosome_lengths(path); }).find("a/b"),
            std::string::npos);
}

TEST(ChromosomeLengths, NamesTheLineThatIsWrong) {
  TempDir dir;
  for (const char* bad : {"chr2", "chr2\tlong", "chr2\t0", "chr2\t-5", "chr2\t1e6", "chr2\t12.5",
                          "chr2 1,000", "chr2\t9999999999999999999", "chr1\t5", "../chr2\t5",
                          "chr\xe9\t5", "chr\x01\t5", "..\t5", "a/b 5"}) {
    const std::string path = dir.write("sizes", std::string("chr1\t100\n# x\n") + bad + "\nX\t5\n");
    const std::string message = message_of<FormatError>([&] { read_chromosome_lengths(path); });
    EXPECT_NE(message.find(path + "', line 3"), std::string::npos) << bad << ": " << message;
  }
}

TEST(ChromosomeLengths, SkipsAByteOrderMark) {
  TempDir dir;
  const auto lengths = read_chromosome_lengths(dir.write("sizes",
                                                         "\xef\xbb\xbf"
                                                         "chré\t5\n"));
  EXPECT_EQ(as_text(lengths), "chré=5;");
}

TEST(ChromosomeLengths, RefusesAnEmptyFile) {
  TempDir dir;
  EXPECT_THROW(read_chromosome_lengths(dir.write("sizes", "")), FormatError);
  EXPECT_THROW(read_chromosome_lengths(dir.write("sizes", "# nothing\n\n")), FormatError);
}

TEST(ChromosomeLengths, ReadsManyContigs) {
  TempDir dir;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "contig" + std::to_string(i) + "\t1000\n";
  EXPECT_EQ(read_chromosome_lengths(dir.write("sizes", text)).size(), 100000u);
}

TEST(ChromosomeNames, MayDifferByALeadingChr) {
  const std::vector<Chromosome> chromosomes = {{"chr1", 5}, {"2", 5}, {"X", 5}, {"chrX", 5}};
  const ChromosomeNames names(chromosomes);
  const std::optional<std::size_t> none;
  EXPECT_EQ(names.find("chr1"), 0U);
  EXPECT_EQ(names.find("1"), 0U);
  EXPECT_EQ(names.find("chr2"), 1U);
  EXPECT_EQ(names.find("X"), 2U);
  EXPECT_EQ(names.find("chrX"), 3U);
  EXPECT_EQ(names.find("chrchr1"), none);
  EXPECT_EQ(names.find(""), none);
}

TEST(ChromosomeNames, MitochondriaHaveFourNames) {
  const std::vector<std::string> all = {"chrM", "MT", "M", "chrMT"};
  for (const auto& known : all) {
    const ChromosomeNames names(std::vector<Chromosome>{{"chr1", 5}, {known, 5}});
    for (const auto& name : all) {
      EXPECT_EQ(names.find(name), 1U) << known << " " << name;
      EXPECT_TRUE(is_same_chromosome(name, known));
    }
    EXPECT_FALSE(names.find("MTX"));
    EXPECT_FALSE(names.find("chr"));
  }
  // An identical name comes first.
  const ChromosomeNames both(std::vector<Chromosome>{{"MT", 5}, {"chrM", 5}});
  EXPECT_EQ(both.find("MT"), 0U);
  EXPECT_EQ(both.find("chrM"), 1U);
}

TEST(ChromosomeNames, AnAliasComesBeforeALeadingChr) {
  const std::vector<Chromosome> chromosomes = {{"chr1", 5}, {"chr2", 5}};
  const ChromosomeNames names(chromosomes, {{"NC_1.1", 0}, {"1", 1}});
  EXPECT_EQ(names.find("NC_1.1"), 0U);
  EXPECT_EQ(names.find("1"), 1U);
  EXPECT_EQ(names.find("chr1"), 0U);
}

TEST(ChromosomeAliases, ReadsBothFormsOfUcscsTable) {
  TempDir dir;
  const std::vector<std::string> names = {"chr1", "chrM"};
  const auto as_text = [](const std::vector<ChromosomeAlias>& aliases) {
    std::string text;
    for (const auto& [alias, number] : aliases) text += alias + "=" + std::to_string(number) + ";";
    return text;
  };
  const auto wide = dir.write("wide",
                              "# ucsc\tassembly\tgenbank\n"
                              "chr1\t1\tCM000663.2\r\n"
                              "chrM\t\tJ01415.2\n"
                              "chr9_alt\t9\tKI270823.1\n");
  EXPECT_EQ(as_text(read_chromosome_aliases(wide, names)), "1=0;CM000663.2=0;J01415.2=1;");
  // alias, chromosome and source: sources are not names, as many chromosomes share them.
  const auto narrow = dir.write("narrow",
                                "1\tchr1\tensembl\n"
                                "CM000663.2\tchr1\tgenbank\n"
                                "MT\tchrM\tensembl\n"
                                "J01415.2\tchrM\tgenbank\n");
  EXPECT_EQ(as_text(read_chromosome_aliases(narrow, names)), "1=0;CM000663.2=0;MT=1;J01415.2=1;");
}

TEST(ChromosomeAliases, RefusesATableOfAnotherGenomeAndTwoChromosomesOnALine) {
  TempDir dir;
  const std::vector<std::string> names = {"chr1", "chr2"};
  EXPECT_THROW(read_chromosome_aliases(dir.write("other", "scaffold1\tNW_1.1\n"), names),
               FormatError);
  const auto path = dir.write("two", "chr1\t1\nchr2\tchr1\n");
  try {
    read_chromosome_aliases(path, names);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.line, 2);
  }
}

}  // namespace
}  // namespace ancify
