// Checks the comparison of blocks with the focal genome.
#include "core/ancestry/projection/focal_check.h"

#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "core/ancestry/projection/focal_genome.h"
#include "core/genome/sequence_store.h"
#include "support.h"

namespace ancify {
namespace {

using test::TempDir;

bool is_base(char c) { return std::string("ACGT").find(c) != std::string::npos; }

// The position, from 1, of the first base of a focal row that differs from the genome, or 0.
std::int64_t differs_slowly(const AlignedPair& pair, const std::string& genome) {
  std::int64_t position = pair.start;
  for (const char c : pair.target) {
    if (c == '-') continue;
    const auto a = static_cast<char>(std::toupper(c));
    const char genomic = genome[static_cast<std::size_t>(position) - 1];
    const auto b = static_cast<char>(std::toupper(genomic));
    if (is_base(a) && is_base(b) && a != b) return position;
    ++position;
  }
  return 0;
}

std::string random_letters(std::size_t n, std::mt19937& random) {
  std::string letters(n, '\0');
  for (char& c : letters) c = "ACGTacgtNnRyACGTACGT"[random() % 20];
  return letters;
}

// The genome's letters from `start` on, in any case. Half of the rows have gaps, and half have a
// few other letters.
std::string random_row(const std::string& genome, std::int64_t start, std::size_t n,
                       std::mt19937& random) {
  std::string row;
  const bool gaps = random() % 2 == 0;
  const bool others = random() % 2 == 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (gaps && random() % 10 == 0) row += '-';
    char c = genome[static_cast<std::size_t>(start) - 1 + i];
    if (random() % 2 == 0) c = static_cast<char>(c ^ 0x20);
    if (random() % 50 == 0) c = 'N';
    if (others && random() % (2 * n) == 0) c = "ACGT"[random() % 4];
    row += c;
  }
  if (gaps) row += "--";
  return row;
}

TEST(FocalCheck, FindsTheFirstDifferenceInFilesAndMemory) {
  const TempDir dir;
  std::mt19937 random(1);
  const std::vector<Chromosome> chromosomes = {{"chr1", 100003}, {"one", 1}, {"chr2", 300}};
  std::vector<std::string> genome;
  PackedStore packed(chromosomes, SimdLevel::kScalar);
  FileStore files(dir.file("focal"), chromosomes);
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    genome.push_back(random_letters(static_cast<std::size_t>(chromosomes[i].length), random));
    packed.write(i, 0, genome[i].data(), genome[i].size());
    files.write(i, 0, genome[i].data(), genome[i].size());
  }
  files.commit({});
  for (const OpenFocal& open : {focal_in(packed), focal_in(dir.file("focal"), chromosomes)}) {
    FocalCheck check(open, chromosomes);
    int found = 0;
    for (int k = 0; k < 2000; ++k) {
      const std::size_t i = random() % chromosomes.size();
      const auto length = static_cast<std::size_t>(chromosomes[i].length);
      const auto start = 1 + static_cast<std::int64_t>(random() % length);
      const std::size_t left = length - static_cast<std::size_t>(start) + 1;
      const std::size_t n = 1 + random() % std::min<std::size_t>(left, k % 20 == 0 ? left : 700);
      const std::string row = random_row(genome[i], start, n, random);
      AlignedPair pair;
      pair.chromosome = chromosomes[i].name;
      pair.start = start;
      pair.end = start + static_cast<std::int64_t>(n) - 1;
      pair.target = row;
      pair.target_gaps = std::count(row.begin(), row.end(), '-');
      const std::int64_t expected = differs_slowly(pair, genome[i]);
      const std::string difference = check.difference(pair, i);
      if (expected == 0) {
        EXPECT_EQ(difference, "");
      } else {
        const std::string where = chromosomes[i].name + ":" + std::to_string(expected) + ",";
        EXPECT_NE(difference.find(where), std::string::npos) << difference << where;
        ++found;
      }
    }
    EXPECT_GT(found, 200);
  }
}

TEST(FocalCheck, ComparesARowThatPairsShareOnce) {
  const std::vector<Chromosome> chromosomes = {{"chr1", 4}};
  PackedStore packed(chromosomes, SimdLevel::kScalar);
  packed.write(0, 0, "ACGT", 4);
  const OpenFocal open = focal_in(packed);
  FocalCheck check(open, chromosomes);
  AlignedPair pair;
  pair.chromosome = "chr1";
  pair.start = 1;
  pair.end = 4;
  pair.target = "ACGA";
  pair.target_line = 7;
  const std::string difference = check.difference(pair, 0);
  EXPECT_EQ(difference,
            "the block's focal row has A at chr1:4, where the focal genome (focal_fasta) has T");
  EXPECT_EQ(check.difference(pair, 0), difference);
  pair.target = "ACGT";
  pair.target_line = 8;
  EXPECT_EQ(check.difference(pair, 0), "");
}

}  // namespace
}  // namespace ancify
