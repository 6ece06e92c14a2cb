// Checks the blocks of AXT files in memory.
#include "core/formats/alignment/axt_pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

const char* const kText =
    "# comment\n"
    "0 chr1 3 7 chr5 10 13 + 500\n"
    "AC-GTn\n"
    "acTG--\n"
    "\n"
    "1 chr2 1 1 chrX 11 11 -\n"
    "A\n"
    "G\n"
    "2 chr1 9 10 chr5 1 2 - -3.5\n"
    "AC\n"
    "GT\n";

std::string as_text(const AxtPairs& read) {
  std::string text;
  for (const auto& [focal, outgroup, minus, score] : read.pairs) {
    for (const AxtRow* row : {&focal, &outgroup}) {
      text += row->chromosome + ":" + std::to_string(row->start) + "-" + std::to_string(row->end) +
              " " + row->bases + " ";
    }
    text += std::string(minus ? "-" : "+") + " " +
            (std::isnan(score) ? "none" : std::to_string(static_cast<int>(score))) + "\n";
  }
  return text;
}

AxtPairs read(const std::string& text, const AxtPairsOptions& options = {}) {
  TempDir dir;
  JobControl control;
  return read_axt_pairs(dir.write("x.axt", text), options, control);
}

TEST(AxtPairs, AreTheBlocksOfTheFile) {
  const std::string expected =
      "chr1:3-7 AC-GTn chr5:10-13 acTG-- + 500\n"
      "chr2:1-1 A chrX:11-11 G - none\n"
      "chr1:9-10 AC chr5:1-2 GT - -3\n";
  AxtPairsOptions options;
  for (const std::size_t chunk : {1U, 7U, 64U, 100000U}) {
    for (const auto level : test::simd_levels()) {
      options.chunk_size = chunk;
      options.simd = level;
      EXPECT_EQ(as_text(read(kText, options)), expected);
    }
  }
  options.chromosomes = {"chr1"};
  EXPECT_EQ(as_text(read(kText, options)),
            "chr1:3-7 AC-GTn chr5:10-13 acTG-- + 500\nchr1:9-10 AC chr5:1-2 GT - -3\n");
}

TEST(AxtPairs, CountMinusStrandsFromTheStartWhereLengthsAreKnown) {
  AxtPairsOptions options;
  options.query_lengths = {{"chr5", 20}, {"chrX", 11}};
  EXPECT_EQ(as_text(read(kText, options)),
            "chr1:3-7 AC-GTn chr5:10-13 acTG-- + 500\n"
            "chr2:1-1 A chrX:1-1 G - none\n"
            "chr1:9-10 AC chr5:19-20 GT - -3\n");
  options.query_lengths["chrX"] = 10;
  EXPECT_NE(message_of<FormatError>([&] { read(kText, options); }).find("line 6"),
            std::string::npos);
  options.on_bad_block = OnBadBlock::kSkip;
  const auto skipped = read(kText, options);
  EXPECT_EQ(skipped.pairs.size(), 2u);
  EXPECT_EQ(skipped.bad, 1);
  options.query_lengths.erase("chrX");
  EXPECT_NE(message_of<FormatError>([&] { read(kText, options); }).find("'chrX' has no length"),
            std::string::npos);
}

TEST(AxtPairs, BadBlocksAreErrorsWithTheirLine) {
  const std::string good = "0 chr1 1 1 chr5 1 1 + 5\nA\nA\n\n";
  AxtPairsOptions skip;
  skip.on_bad_block = OnBadBlock::kSkip;
  for (const char* bad :
       {"1 chr1 1 2 chr5 1 2 + 5\nAC\nACG\n", "1 chr1 1 2 chr5 1 2 + 5\nA*\nAC\n",
        "1 chr1 1 3 chr5 1 2 + 5\nAC\nAC\n", "1 chr1 1 2 chr5 1 1 + 5\nAC\nAC\n",
        "1 chr1 0 1 chr5 1 2 + 5\nAC\nAC\n", "1 chr1 1 2 chr5 0 1 + 5\nAC\nAC\n",
        "1 chr1 1 2 chr5 1 x + 5\nAC\nAC\n", "1 chr1 1 2 chr5 1 2 * 5\nAC\nAC\n",
        "1 chr1 1 2 chr5 1 2 + high\nAC\nAC\n", "1 chr1 1 2 chr5 1 2 + 5\nAC\n"}) {
    const std::string message = message_of<FormatError>([&] { read(good + bad); });
    EXPECT_NE(message.find("line 5"), std::string::npos) << bad << message;
    const auto skipped = read(good + bad, skip);
    EXPECT_EQ(skipped.pairs.size(), 1u) << bad;
    EXPECT_EQ(skipped.bad, 1) << bad;
    EXPECT_THROW(read(bad, skip), FormatError) << bad;
  }
  EXPECT_THROW(read("# nothing\n"), FormatError);
  skip.chromosomes = {"chr2"};
  EXPECT_THROW(read(good, skip), FormatError);
}

}  // namespace
}  // namespace ancify
