// Checks the parser of PAF on pieces of any size.
#include "core/formats/alignment/paf.h"

#include <gtest/gtest.h>

#include "chunks.h"
#include "core/exec/errors.h"
#include "core/formats/alignment/chain.h"
#include "core/formats/alignment/maf.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;

// Parses a text in chunks. Writes a row as its ranges and steps, and then the lines of bad ones.
std::string parse(const std::string& text, std::size_t chunk,
                  OnBadBlock policy = OnBadBlock::kSkip) {
  BadBlocks bad("x.paf", policy);
  PafParser parser(bad);
  std::string parsed;
  const auto write = [&](const PafRange& range) {
    parsed += " " + std::string(range.name) + ":" + std::to_string(range.start) + "-" +
              std::to_string(range.end) + "/" + std::to_string(range.size);
  };
  test::read_in_chunks(text, chunk, [&](std::string_view piece, bool last) {
    return parser.consume(piece, last, [&](const PafRow& row) {
      parsed += "@" + std::to_string(row.line);
      write(row.target);
      write(row.query);
      parsed += row.minus ? " -" : " +";
      parsed += " " + std::to_string(static_cast<int>(row.score));
      if (row.secondary) parsed += " secondary";
      if (row.has_bases) parsed += " bases";
      for (PafSteps rest = row.steps; !rest.text.empty();) {
        const PafStep step = next_step(rest).value();
        parsed += std::string(" ") + "MID"[static_cast<int>(step.kind)];
        parsed += std::to_string(step.size) + (step.equal ? "=" : "") + std::string(step.target) +
                  "/" + std::string(step.query);
      }
      parsed += "\n";
    });
  });
  parsed += "bad " + std::to_string(bad.count());
  for (const auto& example : bad.examples()) parsed += " " + std::to_string(example.line);
  return parsed;
}

const char* const kText =
    "q\t9\t1\t8\t-\tchr1\t20\t2\t9\t5\t7\t60\ttp:A:P\tAS:i:-3\tcg:Z:3M1D2X1I1=\r\n"
    "\n"
    "# comment\n"
    "q 1\t9\t1\t8\t+\tchr1\t20\t2\t9\t5\t7\t60\tcg:Z:9M\tcs:Z::3-a*ag=C+a:1\n"
    "q\t9\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n"
    "junk\n"
    "more\tjunk\n"
    "q\t9\t1\t4\t+\tchr1\t20\t2\t5\t2\t3\t60\ttp:A:S\n"
    "q\t9\t1\t4\t+\tchr1\t20\t2\t5\t2\t3\t60\n"
    "q\t9\t1\t4\t+\tchr1\t20\t2\t5\t2\t3\t60\tcs:Z:=Ac*NT";

TEST(Paf, IsParsedInPiecesOfAnySize) {
  const std::string expected =
      "@1 chr1:2-9/20 q:1-8/9 - -3 M3/ D1/ M2/ I1/ M1/\n"
      "@4 chr1:2-9/20 q 1:1-8/9 + 5 M3=/ D1a/ M1a/g M1=C/C I1/a M1=/\n"
      "@8 chr1:2-5/20 q:1-4/9 + 2 secondary\n"
      "@10 chr1:2-5/20 q:1-4/9 + 2 bases M2=Ac/Ac M1N/T\n"
      "bad 3 6 7 9";
  for (std::size_t chunk = 1; chunk < 100; ++chunk) {
    ASSERT_EQ(parse(kText, chunk), expected) << chunk;
  }
}

TEST(Paf, OfHugeNumbersIsBad) {
  const std::string most = std::string(18, '9');
  const std::string row = "q\t" + most + "\t0\t" + most + "\t+\tc\t" + most + "\t0\t" + most +
                          "\t0\t0\t0\tcg:Z:" + most + "M";
  EXPECT_EQ(parse(row, 50), "@1 c:0-" + most + "/" + most + " q:0-" + most + "/" + most + " + 0 M" +
                                most + "/\nbad 0");
  EXPECT_EQ(parse(row + most + "M" + most + "D", 50), "bad 1 1");
  EXPECT_EQ(parse("q\t9" + row.substr(2), 50), "bad 1 1");
}

TEST(Paf, EndsWithAnErrorUnlessBadRowsAreSkipped) {
  const std::string said = message_of<FormatError>([] { parse(kText, 7, OnBadBlock::kError); });
  EXPECT_NE(said.find("'x.paf', line 6: a row of PAF must have 12 columns"), std::string::npos)
      << said;
  EXPECT_NE(said.find("column 2 is ''"), std::string::npos) << said;
}

TEST(Paf, LinesThatDoNotEndAreAnError) {
  BadBlocks bad("x.paf", OnBadBlock::kSkip);
  const std::string row = "q\t9\t1\t8\t-\tchr1\t20\t2\t9\t5\t7\t60\tcs:Z:=";
  for (const bool has_columns : {true, false}) {
    PafParser parser(bad, 0, 4 * kLongestLine);
    const std::string start = has_columns ? row : "q\t9\t";
    const std::size_t longest = (has_columns ? 4 : 1) * kLongestLine;
    const auto consume = [&](std::size_t size) {
      const std::string text = start + std::string(size - start.size(), 'A');
      return parser.consume(text, false, [](const PafRow&) {});
    };
    EXPECT_EQ(consume(longest), 0U);
    EXPECT_THROW(consume(longest + 1), FormatError);
  }
}

// Names that begin like lines of other formats must not make their readers wait for the line's end.
TEST(Paf, IsNotTakenForOtherFormats) {
  for (const char* name : {"a1", "tig1", "browser1", "chain1", "chr1"}) {
    std::string_view text = "\t9\t1\t8\t-\tchr1\t20\t2\t9\t5\t7\t60\tcs:Z:=ACG";
    const std::string row = name + std::string(text);
    std::int64_t lines = 0;
    text = row;
    EXPECT_EQ(is_maf_text(text, false, lines), std::optional(false)) << name;
    EXPECT_EQ(is_chain_text(text, false, lines), std::optional(false)) << name;
    EXPECT_EQ(is_paf_text(text, false, lines), std::optional(true)) << name;
  }
}

TEST(Paf, TextIsRecognised) {
  struct Case {
    std::string text;
    std::optional<bool> first;  // if more text may follow
    bool last;
  };
  const std::string row = "q\t9\t1\t8\t-\tchr1\t20\t2\t9\t5\t7\t60";
  const std::vector<Case> cases = {
      {"", {}, false},
      {"q\t9", {}, false},
      {row, {}, true},
      {row + "\n", true, true},
      {row + "\tcg", true, true},
      {"# x\n\n" + row, {}, true},
      {"q\t9\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n", true, true},
      {"q\t9\tx\ty", false, false},
      {"q\t9\t1\n", false, false},
      {"0 chr1 1 3 x 1 3 + 5\n", false, false},
      {std::string(kLongestName + 1, 'A'), false, false},
  };
  for (const auto& [text, first, last] : cases) {
    std::string_view rest = text;
    std::int64_t lines = 0;
    EXPECT_EQ(is_paf_text(rest, false, lines), first) << text;
    rest = text;
    lines = 0;
    EXPECT_EQ(is_paf_text(rest, true, lines), std::optional(last)) << text;
  }
  const std::string text = "# x\n\n" + row;
  std::string_view rest = text;
  std::int64_t lines = 0;
  is_paf_text(rest, true, lines);
  EXPECT_EQ(lines, 2);
  EXPECT_EQ(rest, row);
}

}  // namespace
}  // namespace ancify
