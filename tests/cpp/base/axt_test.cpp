// Checks reading AXT in pieces of any size.
#include "core/formats/alignment/axt.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"
#include "core/io/record_reader.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

struct Parsed {
  std::string blocks;
  std::int64_t bad = 0;
  std::vector<std::int64_t> bad_lines;
};

// Parses a text in chunks. Writes a block as chromosome:start-end@line focal/outgroup.
Parsed parse(const std::string& text, std::size_t chunk, OnBadBlock policy = OnBadBlock::kError) {
  TempDir dir;
  const auto source = open_text(dir.write("x.axt", text));
  BadBlocks bad("x.axt", policy);
  AxtParser parser(bad, test::simd_levels()[chunk % test::simd_levels().size()]);
  Parsed parsed;
  const auto read = [&](char* out, std::size_t n) { return source->read(out, n); };
  for_each_chunk(read, chunk, TaskContext(), [&](std::string_view piece, bool last) {
    return parser.consume(piece, last, [&](const AlignedPair& block) {
      parsed.blocks += std::string(block.chromosome) + ":" + std::to_string(block.start) + "-" +
                       std::to_string(block.end) + "@" + std::to_string(block.line) + " " +
                       std::string(block.target) + "/" + std::string(block.query) + "\n";
    });
  });
  parsed.bad = bad.count();
  for (const auto& example : bad.examples()) parsed.bad_lines.push_back(example.line);
  return parsed;
}

const char* const kText =
    "##matrix=axtChain\n"
    "# comment\n"
    "0 chr1 3 7 chr5 10 14 + 500\n"
    "AC-GTn\n"
    "acTG-N\n"
    "\n"
    "# between\n"
    "\n\n"
    "1 chr2 1 1 chr5 1 1 -\n"
    "A\n"
    "G\n"
    "2\tchr2\t5\t6\tchrX\t1\t2\t+\t-3.5\n"
    "AC\n"
    "GT\n";

const char* const kBlocks =
    "chr1:3-7@3 AC-GTn/acTG-N\n"
    "chr2:1-1@10 A/G\n"
    "chr2:5-6@13 AC/GT\n";

TEST(AxtParser, ReadsBlocksWhereverChunksEnd) {
  for (std::size_t chunk = 1; chunk < 200; ++chunk) EXPECT_EQ(parse(kText, chunk).blocks, kBlocks);
}

TEST(AxtParser, ReadsCarriageReturnsAndNoFinalNewline) {
  std::string text;
  for (const char* c = kText; *c != '\0'; ++c) {
    if (*c == '\n') text += '\r';
    text += *c;
  }
  const std::string without_end = text.substr(0, text.size() - 2);
  for (std::size_t chunk = 1; chunk < 200; ++chunk) {
    EXPECT_EQ(parse(text, chunk).blocks, kBlocks);
    EXPECT_EQ(parse(without_end, chunk).blocks, kBlocks);
  }
}

TEST(AxtParser, NamesTheLineOfWhatIsNoBlock) {
  const auto line_of = [](const std::string& text) {
    try {
      parse(text, 7);
    } catch (const FormatError& error) {
      return error.line;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(line_of(">chr1\nACGT\n"), 1);
  EXPECT_EQ(line_of(std::string(kText) + "\n3 chr1 1 2 chr5\nAC\nAC\n"), 17);
  EXPECT_EQ(line_of(std::string(kText) + "\n3 chr1 one 2 chr5 1 2 + 0\nAC\nAC\n"), 17);
  EXPECT_EQ(line_of("0 chr1 1 2 chr5 1 2 + 0\nAC\n\n1 chr1 3 3 chr5 3 3 + 0\nA\nA\n"), 1);
  EXPECT_EQ(line_of("0 chr1 1 2 chr5 1 2 + 0\n1 chr1 3 3 chr5 3 3 + 0\nA\nA\n"), 1);
  EXPECT_EQ(line_of("0 chr1 1 2 chr5 1 2 + 0\nAC\n"), 1);
  EXPECT_EQ(line_of("0 chr1 1 2 chr5 1 2 + 0"), 1);
  EXPECT_EQ(line_of(std::string("\0\1\2\n", 4)), 1);
}

TEST(AxtParser, GoesOnBehindABadBlock) {
  const std::string text =
      "junk\n"
      "more junk\n"
      "0 chr1 1 2 chr5 1 2 + 0\n"
      "AC\n"
      "AC\n"
      "GG\n"  // a third row
      "1 chr1 3 4 chr5 1 2 + 0\n"
      "AC\n"
      "\n"  // only one row
      "2 chr1 5 6 chr5 1 2 + 0\n"
      "3 chr1 7 8 chr5 1 2 + 0\n"
      "TT\n"
      "TT\n"
      "4 chr1 9 9 chr5 1 2 + 0\n"
      "T\n";
  for (std::size_t chunk = 1; chunk < 100; ++chunk) {
    const Parsed parsed = parse(text, chunk, OnBadBlock::kSkip);
    EXPECT_EQ(parsed.blocks, "chr1:1-2@3 AC/AC\nchr1:7-8@11 TT/TT\n");
    EXPECT_EQ(parsed.bad_lines, (std::vector<std::int64_t>{1, 6, 7, 10, 14}));
    EXPECT_EQ(parsed.bad, 5);
  }
}

TEST(AxtParser, SaysTheWayOut) {
  const std::string other = message_of<FormatError>([] { parse("junk\n", 100); });
  EXPECT_NE(other.find("the right file"), std::string::npos) << other;
  EXPECT_EQ(other.find("on_bad_block"), std::string::npos) << other;
  const std::string bad = message_of<FormatError>([] { parse("\njunk\n", 100); });
  EXPECT_NE(bad.find("on_bad_block"), std::string::npos) << bad;
}

}  // namespace
}  // namespace ancify
