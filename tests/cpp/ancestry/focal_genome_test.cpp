// Checks reading the focal genome from FASTA and from alignments.
#include "core/ancestry/projection/focal_genome.h"

#include <gtest/gtest.h>

#include <random>

#include "core/exec/errors.h"
#include "core/formats/sequence/fasta.h"
#include "core/genome/bases.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::read_file;
using test::TempDir;

std::string random_bases(std::size_t n, const std::string& letters, std::mt19937& random) {
  std::string bases(n, '\0');
  for (char& c : bases) c = letters[random() % letters.size()];
  return bases;
}

std::string in_lines(const std::string& bases, std::size_t width, const std::string& end) {
  std::string text;
  for (std::size_t at = 0; at < bases.size(); at += width) text += bases.substr(at, width) + end;
  return text;
}

// ---- FASTA -------------------------------------------------------------------------------------

struct Record {
  std::string name;
  std::int64_t line;
  std::string bases;
};

std::vector<Record> records_of(const std::string& path) {
  std::vector<Record> records;
  JobControl control;
  read_fasta(path,
             {[&](std::string_view name, std::int64_t line) {
                records.push_back({std::string(name), line, ""});
              },
              [&](std::string_view bases) { records.back().bases += bases; }},
             control, TaskContext());
  return records;
}

TEST(Fasta, IsReadInAnyLayout) {
  const TempDir dir;
  std::mt19937 random(1);
  // The longest is longer than one read, so that reads end anywhere in lines and headers.
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{700000}}) {
    for (const std::size_t width : {std::size_t{7}, std::size_t{60}, n}) {
      for (const std::string end : {"\n", "\r\n", " \t\n"}) {
        const std::string first = random_bases(n, "ACGTacgtNn-.*R", random);
        const std::string second = random_bases(n / 2, "ACGT", random);
        const std::string text = ">one of two\n" + in_lines(first, width, end) +
                                 "\n>\tempty\n>two" + std::string(n, 'x') + end +
                                 in_lines(second, width, end);
        for (const auto& content :
             {text, text.substr(0, text.size() - 1), test::gzip(text), test::bgzip(text, 5000)}) {
          const auto records = records_of(dir.write("some.fa", content));
          ASSERT_EQ(records.size(), 3U);
          EXPECT_EQ(records[0].name, "one");
          EXPECT_EQ(records[0].line, 1);
          EXPECT_TRUE(records[0].bases == first);
          EXPECT_EQ(records[1].name, "empty");
          EXPECT_EQ(records[1].bases, "");
          EXPECT_EQ(records[2].name, "two" + std::string(n, 'x'));
          EXPECT_EQ(records[2].line, records[1].line + 1);
          EXPECT_TRUE(records[2].bases == second);
        }
      }
    }
  }
}

TEST(Fasta, RefusesWhatIsNone) {
  const TempDir dir;
  const auto refused = [&](const std::string& content) {
    const std::string path = dir.write("bad.fa", content);
    return message_of<FormatError>([&] { records_of(path); });
  };
  EXPECT_NE(refused("\nACGT\n").find("line 1: not a FASTA file"), std::string::npos);
  EXPECT_NE(refused("ACGT\n>a\n").find("line 1: not a FASTA file: it begins with 'ACGT'"),
            std::string::npos);
  EXPECT_NE(refused(">a\nAC\nA GT\n").find("line 3: the sequence contains characters"),
            std::string::npos);
  EXPECT_NE(refused(std::string(">a\nA\0C\n", 7)).find("line 2"), std::string::npos);
  EXPECT_NE(refused(">a\nA\xc3\n").find("line 2"), std::string::npos);
}

// ---- The focal genome --------------------------------------------------------------------------

TEST(FocalGenome, IsThatOfTheFasta) {
  const TempDir dir;
  std::mt19937 random(2);
  const std::string a = random_bases(200000, "ACGTacgtN", random);
  const std::string b = random_bases(1, "ACGT", random);
  const std::string c = random_bases(70001, "ACGT", random);
  const std::vector<Chromosome> chromosomes = {{"a", 200000}, {"b", 1}, {"c", 70001}};
  const std::string text = ">c is first\n" + in_lines(c, 61, "\n") + ">other\nACGT\nA\n>b\n" + b +
                           "\n>a\n" + in_lines(a, 100000, "\r\n");
  for (const auto& content : {text, test::gzip(text), test::bgzip(text, 3000)}) {
    for (const int threads : {1, 3}) {
      const std::string path = dir.write("focal.fa", content);
      FileStore store(dir.file("focal"), chromosomes);
      JobControl control;
      focal_from_fasta(path, chromosomes, {}, store, threads, control);
      EXPECT_TRUE(read_file(dir.file("focal/a.fa")) == ">a\n" + a + "\n");
      EXPECT_TRUE(read_file(dir.file("focal/b.fa")) == ">b\n" + b + "\n");
      EXPECT_TRUE(read_file(dir.file("focal/c.fa")) == ">c\n" + c + "\n");
      EXPECT_EQ(control.done(), control.expected());
    }
  }
}

TEST(FocalGenome, RefusesAnotherGenome) {
  const TempDir dir;
  const auto refused = [&](const std::string& content) {
    const std::vector<Chromosome> chromosomes = {{"one", 4}, {"two", 2}};
    const std::string path = dir.write("focal.fa", content);
    const std::string message = message_of<FormatError>([&] {
      FileStore store(dir.file("focal"), chromosomes);
      JobControl control;
      focal_from_fasta(path, chromosomes, {}, store, 2, control);
    });
    EXPECT_TRUE(dir.has_nothing_in("focal"));
    EXPECT_NE(message.find(path), std::string::npos);
    return message;
  };
  EXPECT_NE(refused(">two\nAC\n>three x\nA\n")
                .find("no sequence called 'one'; its first sequences are 'two', 'three'"),
            std::string::npos);
  EXPECT_NE(refused("").find("no sequence called 'one'"), std::string::npos);
  EXPECT_NE(refused(">one\nACGT\n>two\nA\n")
                .find("line 3: the sequence 'two' has 1 bases, but 2 in "
                      "the table of lengths"),
            std::string::npos);
  EXPECT_NE(refused(">one\nACGTACGT\n>two\nAC\n").find("line 1: the sequence 'one' has 8 bases"),
            std::string::npos);
  EXPECT_NE(refused(">one\nACGT\n>one\nACGT\n").find("line 3: a second sequence is called 'one'"),
            std::string::npos);
}

// An alignment of random blocks. Their focal rows' bases are written to `focal`.
std::string random_axt(std::size_t length, std::string& focal, std::mt19937& random) {
  std::string text;
  std::size_t at = random() % 50;
  for (int block = 0; at + 1 < length; ++block) {
    const std::size_t n = 1 + random() % std::min<std::size_t>(length - at, 3000);
    const std::string letters = random_bases(n, "ACGTacgtNR", random);
    focal.replace(at, n, letters);
    std::string row;
    for (const char c : letters) row += (random() % 9 == 0 ? "-" : "") + std::string(1, c);
    text += std::to_string(block) + " chr1 " + std::to_string(at + 1) + " " +
            std::to_string(at + n) + " chrX 1 " + std::to_string(n) + " + 5\n" + row + "\n" +
            random_bases(row.size(), "ACGT-", random) + "\n\n";
    at += n + random() % 2000;
  }
  return text;
}

// Most positions are covered by several files, and there are more files than are read at once.
TEST(FocalGenome, IsThatOfTheFirstAlignmentThatHasABase) {
  const TempDir dir;
  std::mt19937 random(3);
  for (const auto& [n_files, length] :
       std::vector<std::pair<int, std::size_t>>{{1, 100}, {3, 2500000}, {70, 4000}}) {
    const std::vector<Chromosome> chromosomes = {{"chr1", static_cast<std::int64_t>(length)}};
    std::string expected(length, 'N');
    std::vector<std::string> axt;
    for (int file = 0; file < n_files; ++file) {
      std::string focal(length, 'N');
      axt.push_back(dir.write(std::to_string(file) + ".axt", random_axt(length, focal, random)));
      for (std::size_t i = 0; i < length; ++i) {
        if (expected[i] == 'N') expected[i] = upper_base(base_code(focal[i]));
      }
    }
    for (const int threads : {1, 2, 5}) {
      FileStore store(dir.file("focal"), chromosomes);
      JobControl control;
      focal_from_alignments(axt, chromosomes, {}, store, threads, control);
      EXPECT_TRUE(read_file(dir.file("focal/chr1.fa")) == ">chr1\n" + expected + "\n")
          << n_files << " files, " << threads << " threads";
    }
  }
}

TEST(EnsemblSlice, IsReadFromTheName) {
  const auto whole = ensembl_slice("ANCESTOR_for_chromosome:GRCh38:22:1:50818468:1");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->chromosome, "22");
  EXPECT_EQ(whole->start, 1);
  EXPECT_EQ(whole->end, 50818468);
  EXPECT_FALSE(whole->minus);
  const auto part = ensembl_slice("a:b:Y:2649521:59034049:-1");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->start, 2649521);
  EXPECT_TRUE(part->minus);
  EXPECT_EQ(ensembl_slice("ANCESTOR_for_chromosome:NCBI36:1:1:247249719")->chromosome, "1");
  for (const char* name :
       {"", "chr1", "a:b:c", "HLA-A*01:01:01:01", "a:b:c:0:5:1", "a:b:c:5:4:1", "a:b:c:1:5:2",
        "a:b:c:x:5:1", "a:b::1:5:1", "a:b:c:1:5:1:1", "a:b:c:1:99999999999999999:1"}) {
    EXPECT_FALSE(ensembl_slice(name)) << name;
  }
}

}  // namespace
}  // namespace ancify
