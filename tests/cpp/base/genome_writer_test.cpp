// Checks FASTA files of several chromosomes: their lines, their indexes, and bgzip's blocks.
#include "core/genome/genome_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "core/formats/variant/variant_file.h"
#include "support.h"

namespace ancify {
namespace {

using test::read_file;
using test::TempDir;

struct Sequence {
  std::string name;
  std::string letters;
};

std::string random_letters(std::size_t n) {
  std::string letters(n, 'N');
  unsigned state = 7;
  for (char& letter : letters)
    letter = "ACGTacgtnN"[((state = state * 1103515245 + 12345) >> 16) % 10];
  return letters;
}

// Writes letters in pieces of `piece`.
void write(const std::string& path, const std::vector<Sequence>& sequences, std::int64_t width,
           int threads = 1, std::size_t piece = 1000) {
  std::vector<Chromosome> chromosomes;
  for (const auto& [name, letters] : sequences) {
    chromosomes.push_back({name, static_cast<std::int64_t>(letters.size())});
  }
  JobControl control;
  run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
    GenomeWriter writer(path, chromosomes, width, context);
    for (const auto& [name, letters] : sequences) {
      writer.begin(name);
      for (std::size_t at = 0; at < letters.size(); at += piece) {
        writer.write(letters.data() + at, std::min(piece, letters.size() - at));
      }
    }
    writer.commit();
  });
}

// The file, letter by letter.
std::string oracle(const std::vector<Sequence>& sequences, std::size_t width) {
  std::string text;
  for (const auto& [name, letters] : sequences) {
    text += ">" + name;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (i % width == 0) text += "\n";
      text += letters[i];
    }
    text += "\n";
  }
  return text;
}

std::uint64_t number_at(const std::string& bytes, std::size_t i) {
  std::uint64_t number = 0;
  for (std::size_t byte = 8; byte > 0; --byte) {
    number = number << 8 | static_cast<std::uint8_t>(bytes[8 * i + byte - 1]);
  }
  return number;
}

const std::vector<Sequence> kThree = {{"chr1", "ACGTnNacgtA"}, {"short", "AC"}, {"x", "NNNNNN"}};

TEST(GenomeWriter, WrapsLinesAndIndexesThem) {
  const TempDir dir;
  const std::string path = dir.file("a.fa");
  write(path, kThree, 3);
  EXPECT_EQ(read_file(path), ">chr1\nACG\nTnN\nacg\ntA\n>short\nAC\n>x\nNNN\nNNN\n");
  // Names, lengths, offsets, letters of a line, bytes of a line
  EXPECT_EQ(read_file(path + ".fai"), "chr1\t11\t6\t3\t4\nshort\t2\t28\t2\t3\nx\t6\t34\t3\t4\n");
  EXPECT_EQ(dir.entries(), 2);
  for (const std::size_t width : {1, 2, 4, 11, 12, 1000}) {
    for (const std::size_t piece : {1, 2, 5, 100}) {
      write(path, kThree, static_cast<std::int64_t>(width), 1, piece);
      EXPECT_EQ(read_file(path), oracle(kThree, width)) << width << " in " << piece;
    }
  }
}

TEST(GenomeWriter, HasLinesLongerThanItsBuffer) {
  const TempDir dir;
  const std::vector<Sequence> sequences = {{"a", random_letters(700001)}, {"b", "A"}};
  for (const std::int64_t width : {60, 700000, 2000000000}) {
    write(dir.file("a.fa"), sequences, width, 1, 650000);
    EXPECT_EQ(read_file(dir.file("a.fa")), oracle(sequences, static_cast<std::size_t>(width)));
  }
}

TEST(GenomeWriter, MakesAnIndexNewerThanItsFileInWholeSeconds) {
  const TempDir dir;
  write(dir.file("a.fa"), kThree, 60);
  struct stat file;
  struct stat index;
  ASSERT_EQ(stat(dir.file("a.fa").c_str(), &file), 0);
  ASSERT_EQ(stat(dir.file("a.fa.fai").c_str(), &index), 0);
  EXPECT_LT(file.st_mtime, index.st_mtime);
}

TEST(GenomeWriter, CompressesTheSameBytesByAnyThreads) {
  if (htslib_version().empty()) GTEST_SKIP() << "a build without htslib";
  const TempDir dir;
  constexpr std::size_t block = 0xff00;  // bytes of text in a block of bgzip
  // Also texts that end with a block: ">a\n", letters, and the line end.
  for (const std::size_t size :
       {std::size_t{1}, block - 4, block - 3, 20 * block - 4, 130 * block + 3}) {
    const std::vector<Sequence> sequences = {{"a", random_letters(size)}};
    const std::string text = oracle(sequences, size);
    std::string bytes;
    std::string index;
    for (const int threads : {1, 2, 5}) {
      const std::string path = dir.file(std::to_string(threads) + ".fa.gz");
      write(path, sequences, static_cast<std::int64_t>(size), threads);
      if (threads == 1) {
        bytes = read_file(path);
        index = read_file(path + ".gzi");
        EXPECT_TRUE(test::read_all(*open_text(path), 100000) == text);
        EXPECT_EQ(read_file(path + ".fai"), "a\t" + std::to_string(size) + "\t3\t" +
                                                std::to_string(size) + "\t" +
                                                std::to_string(size + 1) + "\n");
      }
      EXPECT_TRUE(read_file(path) == bytes) << threads;
      EXPECT_TRUE(read_file(path + ".gzi") == index) << threads;
    }
    // The places of all blocks but the first, in the file and in the text
    const std::uint64_t n = number_at(index, 0);
    EXPECT_EQ(n, (text.size() - 1) / block);
    ASSERT_EQ(index.size(), 8 + 16 * n);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(bytes.compare(number_at(index, 1 + 2 * i), 4, std::string("\x1f\x8b\x08\x04")), 0);
      EXPECT_EQ(number_at(index, 2 + 2 * i), (i + 1) * block);
    }
  }
}

TEST(GenomeWriter, LeavesNothingOfAnUnfinishedFile) {
  const TempDir dir;
  const TaskContext context;
  for (const char* name : {"a.fa", "a.fa.gz"}) {
    if (htslib_version().empty() && std::strcmp(name, "a.fa.gz") == 0) {
      EXPECT_THROW(write(dir.file(name), kThree, 60), InputError);
    } else {
      GenomeWriter writer(dir.file(name), {{"a", 1000000}}, 60, context);
      writer.begin("a");
      writer.write(random_letters(400000).data(), 400000);
    }
    EXPECT_EQ(dir.entries(), 0) << name;
  }
}

TEST(GenomeWriter, KeepsEarlierFilesIfAnIndexCannotBeNamed) {
  const TempDir dir;
  write(dir.file("a.fa"), kThree, 60);
  std::filesystem::remove(dir.file("a.fa.fai"));
  std::filesystem::create_directory(dir.file("a.fa.fai"));
  EXPECT_THROW(write(dir.file("a.fa"), {{"a", "A"}}, 60), FileError);
  EXPECT_EQ(read_file(dir.file("a.fa")), oracle(kThree, 60));
  EXPECT_EQ(dir.entries(), 2);
}

}  // namespace
}  // namespace ancify
