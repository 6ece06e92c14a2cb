// Checks the parser of chains on pieces of any size.
#include "core/formats/alignment/chain.h"

#include <gtest/gtest.h>

#include "chunks.h"
#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;

// Parses a text in chunks. Writes a chain as its ranges and blocks, and then the lines of bad ones.
std::string parse(const std::string& text, std::size_t chunk,
                  OnBadBlock policy = OnBadBlock::kSkip) {
  BadBlocks bad("x.chain", policy);
  ChainParser parser(bad);
  std::string parsed;
  const auto write = [&](const ChainRange& range) {
    parsed += " " + std::string(range.name) + (range.minus ? "-" : "+") +
              std::to_string(range.start) + "-" + std::to_string(range.end) + "/" +
              std::to_string(range.size);
  };
  test::read_in_chunks(text, chunk, [&](std::string_view piece, bool last) {
    return parser.consume(piece, last, [&](const Chain& chain) {
      parsed += "@" + std::to_string(chain.line);
      write(chain.target);
      write(chain.query);
      for (std::string_view rest = chain.blocks; !rest.empty();) {
        const ChainBlock block = next_block(rest);
        parsed += " " + std::to_string(block.size);
        if (block.is_last) continue;
        parsed += ":" + std::to_string(block.target_gap) + ":" + std::to_string(block.query_gap);
      }
      parsed += "\n";
    });
  });
  parsed += "bad " + std::to_string(bad.count());
  for (const auto& example : bad.examples()) parsed += " " + std::to_string(example.line);
  return parsed;
}

const char* const kText =
    "##matrix=axtChain 16 91\n"
    "\n"
    "chain 4900 chrY 58368225 + 25985403 25985437 chr5 151006098 - 43257292 43257328 1\r\n"
    "9\t1\t0\r\n"
    "10 0 5\n"
    "12 2 0 \n"
    "0\t0\t0\n"
    "# comment\n"
    "\n"
    "chain 5 a 9 + 0 3 b 9 + 1 4\n"
    "3\n"
    "chain 5 a 9 + 0 3 b 9 + 1 4 2\n"
    "1 1 1\n"
    "1\n"
    "\n"
    "junk\n"
    "more junk\n"
    "chain 5 a 9 + 0 9 b 9 + 0 9 3\n"
    "9";

TEST(Chain, IsParsedInPiecesOfAnySize) {
  const std::string expected =
      "@10 a+0-3/9 b+1-4/9 3\n"
      "@12 a+0-3/9 b+1-4/9 1:1:1 1\n"
      "@18 a+0-9/9 b+0-9/9 9\n"
      "bad 2 8 16";
  for (std::size_t chunk = 1; chunk < 100; ++chunk) {
    ASSERT_EQ(parse(kText, chunk), expected) << chunk;
  }
  std::string mended = kText;
  mended.erase(mended.find("0\t0\t0\n"), 6);
  mended.replace(mended.find("# comment"), 9, "0");
  const std::string first =
      "@3 chrY+25985403-25985437/58368225 chr5-43257292-43257328/151006098 9:1:0 10:0:5 12:2:0 0\n";
  EXPECT_EQ(parse(mended, 1000).substr(0, first.size() + 2), first + "@9");
}

TEST(Chain, OfHugeNumbersIsBad) {
  const std::string most = std::string(18, '9');
  const std::string header = "chain 1 a " + most + " + 0 " + most + " b " + most + " + 0 " + most;
  EXPECT_EQ(parse(header + "\n" + most + " " + most + " " + most + "\n1\n", 50), "bad 1 2");
  EXPECT_EQ(parse("chain 1 a 9" + most + " + 0 3 b 9 + 0 3\n3\n", 50), "bad 1 1");
  EXPECT_EQ(parse(header + "\n" + most, 50),
            "@1 a+0-" + most + "/" + most + " b+0-" + most + "/" + most + " " + most + "\nbad 0");
}

TEST(Chain, EndsWithAnErrorUnlessBadOnesAreSkipped) {
  const std::string said = message_of<FormatError>([] { parse(kText, 7, OnBadBlock::kError); });
  EXPECT_NE(said.find("'x.chain', line 8: not a block of a chain"), std::string::npos) << said;
}

TEST(Chain, TextIsRecognised) {
  struct Case {
    std::string text;
    std::optional<bool> first;  // if more text may follow
    bool last;
  };
  const std::vector<Case> cases = {
      {"", {}, false},
      {"cha", {}, false},
      {"chain", {}, true},
      {"chain\n", true, true},
      {"# x\n\nchain 1", {}, true},
      {"# x", {}, false},
      {"chains\n", false, false},
      {" chain 1\n", false, false},
      {"chip", false, false},
      {"0 chain", false, false},
  };
  for (const auto& [text, first, last] : cases) {
    std::string_view rest = text;
    std::int64_t lines = 0;
    EXPECT_EQ(is_chain_text(rest, false, lines), first) << text;
    rest = text;
    lines = 0;
    EXPECT_EQ(is_chain_text(rest, true, lines), std::optional(last)) << text;
  }
  std::string_view rest = "# x\n\nchain 1\n";
  std::int64_t lines = 0;
  is_chain_text(rest, false, lines);
  EXPECT_EQ(lines, 2);
  EXPECT_EQ(rest, "chain 1\n");
}

}  // namespace
}  // namespace ancify
