// Checks the reader of 2bit against the sequences that were written.
#include "core/formats/sequence/twobit.h"

#include <gtest/gtest.h>

#include <random>

#include "core/exec/errors.h"
#include "support.h"
#include "twobit_files.h"

namespace ancify {
namespace {

using test::Genome;
using test::message_of;
using test::TempDir;
using test::TwoBitWriter;

// Stretches of bases, N and lower case.
std::string random_sequence(std::mt19937& random, std::size_t length) {
  std::string bases;
  while (bases.size() < length) {
    const std::string_view letters = random() % 4 == 0 ? "N" : random() % 4 == 0 ? "acgtn" : "ACGT";
    for (std::size_t n = random() % 40; n > 0; --n) bases += letters[random() % letters.size()];
  }
  return bases.substr(0, length);
}

std::string read(TwoBitFile& file, std::size_t sequence, std::size_t start, std::size_t n) {
  std::string bases(n, '?');
  file.read(sequence, static_cast<std::int64_t>(start), n, bases.data());
  return bases;
}

TEST(TwoBit, GivesAnyRangeOfWhatWasWritten) {
  TempDir dir;
  std::mt19937 random(1);
  // The second is longer than a window of the file.
  Genome genome = {{"chr1", random_sequence(random, 77)},
                   {"long", random_sequence(random, 70000)},
                   {"empty", ""},
                   {std::string(255, 'x'), "acgtN"}};
  for (const bool big : {false, true}) {
    for (const int version : {0, 1}) {
      TwoBitFile file(dir.write("a.2bit", TwoBitWriter(big, version).file(genome)));
      ASSERT_EQ(file.names().size(), genome.size());
      for (std::size_t i = 0; i < genome.size(); ++i) {
        const auto& [name, bases] = genome[i];
        EXPECT_EQ(file.names()[i], name);
        ASSERT_EQ(file.length(i), static_cast<std::int64_t>(bases.size()));
        EXPECT_EQ(read(file, i, 0, bases.size()), bases);
      }
      for (int round = 0; round < 2000; ++round) {
        const std::size_t i = random() % 2;
        const std::string& bases = genome[i].second;
        const std::size_t start = random() % (bases.size() + 1);
        const std::size_t n = random() % std::min<std::size_t>(300, bases.size() - start + 1);
        ASSERT_EQ(read(file, i, start, n), bases.substr(start, n)) << start << " " << n;
      }
      file.check_unchanged();
    }
  }
}

TEST(TwoBit, CutAnywhereIsAnErrorThatNamesTheFile) {
  TempDir dir;
  const std::string whole = TwoBitWriter().file({{"a", "ACGTNNa"}, {"b", "ACGTA"}});
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string path = dir.write("cut.2bit", whole.substr(0, n));
    const std::string said = message_of<FormatError>([&] {
      TwoBitFile file(path);
      read(file, 0, 0, 7);
      read(file, 1, 0, 5);
    });
    EXPECT_NE(said.find("cut.2bit"), std::string::npos) << said;
  }
}

TEST(TwoBit, OpensOnlyAFileWithItsIdentity) {
  TempDir dir;
  const std::string path = dir.write("a.2bit", TwoBitWriter().file({{"a", "ACGT"}}));
  EXPECT_NO_THROW(TwoBitFile(path, {{path, InputFile(path).identity()}}));
  EXPECT_THROW(TwoBitFile(path, {{path, "another"}}), FileError);
  TwoBitFile file(path);
  dir.write("a.2bit", TwoBitWriter().file({{"a", "ACGTA"}}));
  EXPECT_THROW(file.check_unchanged(), FileError);
}

}  // namespace
}  // namespace ancify
