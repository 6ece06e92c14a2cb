// Checks FASTA files of one sequence.
#include "core/genome/sequence_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "core/exec/errors.h"
#include "core/genome/sequence_source.h"
#include "core/genome/sequence_store.h"
#include "support.h"

namespace ancify {
namespace {

using test::read_file;
using test::TempDir;

TEST(SequenceReader, TakesAnyFileWhoseHeaderAndLengthFit) {
  TempDir dir;
  for (const char* content : {">chr1\nACGTn\n", ">chr1\nACGTn", ">chr1\r\nACGTn\r\n",
                              ">chr1 a description\nACGTn\n", "> chr1\nACGTn\n"}) {
    const SequenceReader reader(dir.write("a.fa", content), "chr1", 5);
    std::string bases(3, '\0');
    reader.read(2, 3, &bases[0]);
    EXPECT_EQ(bases, "GTn") << content;
  }
}

TEST(SequenceReader, RefusesWhatDoesNotFit) {
  TempDir dir;
  for (const char* content :
       {"", ">chr1", "ACGTn\n", ">chr2\nACGTn\n", ">chr10\nACGTn\n", ">\nACGTn\n", ">chr1\nACGT\n",
        ">chr1\nACGTnn\n", ">chr1\nAC\nGTn\n", ">chr1\nACGTn\n>chr2\nACGTn\n", ">chr1\n"}) {
    const std::string path = dir.write("a.fa", content);
    EXPECT_THROW(SequenceReader(path, "chr1", 5), FormatError) << content;
  }
}

TEST(SequenceReader, IsOfTheFileThatIsExpectedAndStays) {
  TempDir dir;
  const std::string path = dir.write("a.fa", ">chr1\nACGTn\n");
  const InputIdentities inputs = {{path, InputFile(path).identity()}};
  const auto source = file_source(path, "chr1", 5, inputs);
  EXPECT_NO_THROW(source->check_unchanged());
  ASSERT_EQ(std::rename(dir.write("b.fa", ">chr1\nACGTA\n").c_str(), path.c_str()), 0);
  EXPECT_THROW(source->check_unchanged(), FileError);
  EXPECT_THROW(file_source(path, "chr1", 5, inputs), FileError);
}

TEST(SequenceReader, RefusesABrokenLineThatFitsByChance) {
  TempDir dir;
  const SequenceReader reader(dir.write("a.fa", ">chr1\nAC\nGT\n"), "chr1", 5);
  std::string bases(5, '\0');
  EXPECT_THROW(reader.read(0, 5, &bases[0]), FormatError);
}

TEST(SequenceReader, FindsTheLength) {
  TempDir dir;
  for (const char* content : {">chr1\nACGTn\n", ">chr1\nACGTn", ">chr1\r\nACGTn\r\n"}) {
    const SequenceReader reader(dir.write("a.fa", content), "chr1");
    EXPECT_EQ(reader.length(), 5) << content;
    char base = 0;
    reader.read(4, 1, &base);
    EXPECT_EQ(base, 'n') << content;
  }
  for (const char* content : {">chr1\nACGTn\nACG\n", ">chr1\n", ">chr1\n\n", ">chr1\nAC\n\n",
                              ">chr1\nAC\n>chr2\nAC\n", ">chr2\nACGT\n", "", "ACGT\n"}) {
    EXPECT_THROW(SequenceReader(dir.write("a.fa", content), "chr1"), FormatError) << content;
  }
}

TEST(FileStore, WritesInAnyOrder) {
  TempDir dir;
  std::vector<Chromosome> chromosomes;
  for (int i = 0; i < 20; ++i) chromosomes.push_back({"c" + std::to_string(i), 4});
  FileStore store(dir.file("deep/folder"), chromosomes);
  for (int base = 0; base < 4; ++base) {
    for (std::size_t i = 0; i < chromosomes.size(); ++i) store.write(i, base, &"ACGT"[base], 1);
  }
  store.commit({});
  for (const auto& [name, length] : chromosomes) {
    EXPECT_EQ(read_file(sequence_path(dir.file("deep/folder"), name)), ">" + name + "\nACGT\n");
  }
  EXPECT_EQ(dir.entries(), 22u);
}

// Sequences written in order get their checksum on the way; for others the file is read again.
TEST(FileStore, HasTheChecksumsOfItsFiles) {
  TempDir dir;
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<Chromosome> chromosomes;
    for (int i = 0; i < 5; ++i) {
      chromosomes.push_back({"c" + std::to_string(i), 1 + static_cast<int>(random() % 2000)});
    }
    FileStore store(dir.file("folder"), chromosomes);
    const bool in_order = round % 2 == 0;
    for (std::size_t i = 0; i + 1 < chromosomes.size(); ++i) {
      const std::int64_t length = chromosomes[i].length;
      std::string bases;
      for (std::int64_t k = 0; k < length; ++k) bases += "ACGT"[random() % 4];
      const auto cut = static_cast<std::int64_t>(random() % static_cast<unsigned>(length));
      const auto rest = static_cast<std::size_t>(length - cut);
      if (!in_order) store.write(i, cut, bases.data(), rest);
      store.write(i, 0, bases.data(), static_cast<std::size_t>(cut));
      store.write(i, cut, bases.data() + cut, rest);
    }
    store.commit({});
    const auto sums = store.checksums();
    ASSERT_EQ(sums.size(), chromosomes.size());
    for (std::size_t i = 0; i + 1 < chromosomes.size(); ++i) {
      const std::string path = sequence_path(dir.file("folder"), chromosomes[i].name);
      EXPECT_EQ(sums[i], checksum_of_file(path, {}));
    }
    EXPECT_EQ(sums.back(), FileChecksum());  // never written
  }
}

}  // namespace
}  // namespace ancify
