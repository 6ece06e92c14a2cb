// Chunks against a walk along the sequence, and frames against plain loops.
#include "core/viruses/chunks.h"

#include <gtest/gtest.h>

#include <array>

#include "core/exec/errors.h"
#include "core/viruses/dna_records.h"
#include "core/viruses/frames.h"
#include "support.h"

namespace ancify {
namespace {

// The rule in its plain form: overlaps are subtracted one by one.
std::vector<Chunk> walked(std::int64_t length, std::int64_t size) {
  std::vector<Chunk> chunks;
  const std::int64_t n = (length + size - 1) / size;
  std::int64_t overlaps = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t start = j * size - overlaps;
    chunks.push_back({start, std::min(start + size, length)});
    const std::int64_t more = n * size - length;
    overlaps += more / n + (j < more - more / n * (n - 1) ? 1 : 0);
  }
  return chunks;
}

TEST(Chunks, AreThoseOfAWalk) {
  for (std::int64_t size = 1; size < 12; ++size) {
    for (std::int64_t length = 0; length < 40 * size; ++length) {
      const auto chunks = chunks_of(length, size, ChunkRule::kVirnucpro);
      const auto expected = walked(length, size);
      ASSERT_EQ(chunks.size(), expected.size());
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        ASSERT_EQ(chunks[i].start, expected[i].start) << length << " by " << size;
        ASSERT_EQ(chunks[i].end, expected[i].end) << length << " by " << size;
      }
    }
  }
  const auto chunks = chunks_of(501, 500, ChunkRule::kVirnucpro);
  EXPECT_EQ(chunks[0].end, 500);
  EXPECT_EQ(chunks[1].start, 250);
  EXPECT_EQ(chunks[1].end, 501);
}

TEST(Chunks, EvenOnesAreLongAndCoverAll) {
  for (std::int64_t size = 1; size < 12; ++size) {
    for (std::int64_t length = size; length < 40 * size; ++length) {
      const auto chunks = chunks_of(length, size, ChunkRule::kEven);
      const auto n = static_cast<std::int64_t>(chunks.size());
      ASSERT_EQ(n, (length + size - 1) / size);
      ASSERT_EQ(chunks.back().end, length);
      for (std::int64_t j = 0; j < n; ++j) {
        const Chunk& chunk = chunks[static_cast<std::size_t>(j)];
        ASSERT_EQ(chunk.end - chunk.start, size);
        ASSERT_EQ(chunk.start, n > 1 ? j * (length - size) / (n - 1) : 0);
      }
    }
  }
  EXPECT_EQ(chunks_of(3, 5, ChunkRule::kEven).front().end, 3);
}

const char* const kStandard = "KNKNTTTTRSRSIIMIQHQHPPPPRRRRLLLLEDEDAAAAGGGGVVVV*Y*YSSSS*CWCLFLF";

TEST(Frames, HaveTheirBasesAndProteins) {
  const FrameReader loose(GeneticCode(kStandard), FrameRule::kVirnucpro);
  const FrameReader exact(GeneticCode(kStandard), FrameRule::kStrict);
  const auto frames = loose.open_frames("ATGGCNAAACG");
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames[0].number, 0);
  EXPECT_EQ(frames[0].protein, "MK");
  EXPECT_EQ(frames[0].bases, "ATGGCNA") << "the codon that is left out shortens the bases";
  const auto strict = exact.open_frames("ATGGCNAAACG");
  EXPECT_EQ(strict[0].protein, "MXK");
  EXPECT_EQ(strict[0].bases, "ATGGCNAAA");
  EXPECT_TRUE(exact.open_frames("AT").empty());
  const auto leucine = loose.open_frames("TAA");
  ASSERT_EQ(leucine.size(), 1U) << "the other strand alone has no stop";
  EXPECT_EQ(leucine[0].number, 3);
  EXPECT_EQ(leucine[0].protein, "L");
  EXPECT_EQ(loose.open_frames("TAARCC")[0].bases, "GGRT");
  const auto complemented = exact.open_frames("TAARCC");
  ASSERT_EQ(complemented.size(), 5U) << "all but the first, which has a stop";
  EXPECT_EQ(complemented[2].bases, "GGYTTA");
}

constexpr std::size_t kPartSize = 1000;

std::string read_problem(const std::string& text) {
  const test::TempDir folder;
  JobControl control;
  try {
    read_dna({folder.write("x.fa", text)}, kPartSize, control);
  } catch (const FormatError& error) {
    return std::to_string(error.line) + error.what();
  }
  return "";
}

TEST(DnaRecords, AreReadInUpperCase) {
  const test::TempDir folder;
  JobControl control;
  const auto records =
      read_dna({folder.write("a.fa", ">a b\nacgtn\nRY-\n"), folder.write("b.fq", "@c\nA\n+\nI\n")},
               kPartSize, control);
  EXPECT_EQ(records.ids, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(records.bases[0], "ACGTNRY-");
  EXPECT_EQ(records.bases[1], "A");
  EXPECT_EQ(read_dna({folder.write("rna.fa", ">a\nACGUu\n")}, kPartSize, control).bases[0],
            "ACGTT");
}

TEST(DnaRecords, AreTheSameInPartsOfAnySize) {
  const test::TempDir folder;
  const std::vector<std::string> texts = {"A", "CCC", "GT", "ACGTACGTAC", "G", "TTTT"};
  std::string fasta;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    fasta +=
        ">" + std::to_string(i) + "\n" + texts[i].substr(0, 2) + "\n" + texts[i].substr(1) + "\n";
  }
  const std::string path = folder.write("a.fa", fasta);
  for (std::size_t size = 1; size < 30; ++size) {
    JobControl control;
    auto records = read_dna({path}, size, control);
    std::vector<std::size_t> in_part(records.bases.parts().size(), 0);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(records.bases[i], texts[i].substr(0, 2) + texts[i].substr(1)) << size;
      ++in_part[records.bases.places()[i].part];
    }
    for (std::size_t part = 0; part < in_part.size(); ++part) {
      EXPECT_TRUE(in_part[part] == 1 || records.bases.parts()[part].size() <= size) << size;
    }
  }
}

TEST(DnaRecords, AreRefusedWithTheirLine) {
  for (const auto& [text, told] : std::vector<std::array<std::string, 2>>{
           {">a\nA\n>b\nMKEL\n", "3'x.fa', line 3: record 'b': the letter 'E' stands for no base"},
           {">a\nA\n>a\nA\n", "3'x.fa', line 3: record 'a': a record before it"},
           {">a\n>b\nA\n", "1'x.fa', line 1: record 'a': it has no bases"},
           {">a\nA\n>b\n", "3'x.fa', line 3: record 'b': it has no bases"},
           {">\nA\n", "1'x.fa', line 1: record '': it has no name"},
           {">a\xE9\nA\n", "1'x.fa', line 1: the name 'a?' is not UTF-8"}}) {
    std::string problem = read_problem(text);
    const std::size_t slash = problem.rfind('/');
    const std::size_t quote = problem.find('\'');
    ASSERT_NE(slash, problem.npos) << text;
    problem.erase(quote + 1, slash - quote);
    EXPECT_EQ(problem.substr(0, told.size()), told);
  }
}

}  // namespace
}  // namespace ancify
