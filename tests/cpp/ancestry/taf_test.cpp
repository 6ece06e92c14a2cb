// Checks reading TAF in pieces of any size, and following its rows from column to column.
#include "core/formats/alignment/taf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "chunks.h"
#include "core/ancestry/projection/projection.h"
#include "core/device/simd.h"
#include "core/exec/errors.h"
#include "core/genome/sequence_source.h"

namespace ancify {
namespace {

struct Parsed {
  std::string blocks;
  std::vector<std::int64_t> bad_lines;
};

// Parses a text in chunks. Writes a block as @line, and each of its rows with its fields; a row
// that is not wanted as its source alone.
Parsed parse(const std::string& text, std::size_t chunk, OnBadBlock policy = OnBadBlock::kError) {
  BadBlocks bad("x.taf", policy);
  TafParser parser(
      bad, [](std::string_view source) { return source != "far"; }, best_simd_level());
  Parsed parsed;
  test::read_in_chunks(text, chunk, [&](std::string_view piece, bool last) {
    return parser.consume(piece, last, [&](const MafBlock& block) {
      EXPECT_TRUE(block.of_columns);
      parsed.blocks += "@" + std::to_string(block.line);
      for (const auto& line : block.rows) {
        EXPECT_EQ(line.line, block.line);
        parsed.blocks += " " + std::string(line.source);
        EXPECT_EQ(line.wanted, line.row != nullptr);
        if (!line.wanted) continue;
        const auto row = parse_maf_row(line).value();
        EXPECT_EQ(row.size, static_cast<std::int64_t>(row.columns.size()) -
                                std::count(row.columns.begin(), row.columns.end(), '-'));
        parsed.blocks += ":" + std::to_string(row.start) + (row.minus ? "-" : "+") +
                         std::to_string(row.source_size) + ":" + std::string(row.columns);
      }
      parsed.blocks += "\n";
    });
  });
  for (const auto& example : bad.examples()) parsed.bad_lines.push_back(example.line);
  return parsed;
}

const char* const kText =
    "#taf version:1 scoring:N/A\n"
    "# comment\n"
    "A-c ; i 0 hg.chr1 2 + 10 i 1 near.c 5 - 100 i 2 far 0 + 9\n"
    "CGT @ tag:1 other:a;b\n"
    "\n"
    "  -T-\n"
    "GG ; d 2\n"
    "#ACGT\n"
    "AA\t;\tg 0 1 G 1 acgt @ x:y\n"
    "TTTT ; i 1 new 7 + 8 i 0 far 1 + 5 s 1 hg.chr2 0 - 50 s 2 new 3 + 8\n";

const char* const kRuns =
    "#taf run_length_encode_bases:1\n"
    "# comment\n"
    "A 1 - 1 c 1 ; i 0 hg.chr1 2 + 10 i 1 near.c 5 - 100 i 2 far 0 + 9\n"
    "C 1 G 1 T 1 @ tag:1 other:a;b\n"
    "\n"
    "  -  1 T\t1 - 001\n"
    "G 2 ; d 2\n"
    "#ACGT\n"
    "A 1 A 1\t;\tg 0 1 G 1 acgt @ x:y\n"
    "T 4 ; i 1 new 7 + 8 i 0 far 1 + 5 s 1 hg.chr2 0 - 50 s 2 new 3 + 8\n";

const char* const kBlocks =
    "@3 hg.chr1:2+10:AC- near.c:5-100:-GT far\n"
    "@7 hg.chr1:4+10:G near.c:7-100:G\n"
    "@9 hg.chr1:6+10:A near.c:12-100:A\n"
    "@10 far hg.chr2:0-50:T new:3+8:T near.c:13-100:T\n";

TEST(TafParser, ReadsColumnsWhereverChunksEnd) {
  for (std::size_t chunk = 1; chunk < 300; ++chunk) {
    EXPECT_EQ(parse(kText, chunk).blocks, kBlocks);
    EXPECT_EQ(parse(kRuns, chunk).blocks, kBlocks);
  }
}

TEST(TafParser, ReadsCarriageReturnsAndNoFinalNewline) {
  for (const char* const lines : {kText, kRuns}) {
    std::string text;
    for (const char c : std::string(lines)) text += c == '\n' ? "\r\n" : std::string(1, c);
    EXPECT_EQ(parse(text, 7).blocks, kBlocks);
    EXPECT_EQ(parse(text + (lines == kText ? "GGGG" : "G 4"), 7).blocks,
              std::string(kBlocks).substr(0, std::string(kBlocks).rfind('@')) +
                  "@10 far hg.chr2:0-50:TG new:3+8:TG near.c:13-100:TG\n");
  }
}

std::string error_of(const std::string& text) {
  try {
    parse(text, 7);
  } catch (const FormatError& error) {
    return std::to_string(error.line) + ": " + error.what();
  }
  return "";
}

void expect_error(const std::string& text, const std::string& line, const std::string& part) {
  const std::string error = error_of(text);
  EXPECT_EQ(error.substr(0, error.find(':')), line) << error;
  EXPECT_NE(error.find(part), error.npos) << error;
}

TEST(TafParser, NamesTheLineOfABadColumn) {
  const std::string head = "#taf\nAC ; i 0 hg.chr1 2 + 10 i 1 near.c 5 - 100\n";
  const std::string runs = "#taf run_length_encode_bases:1\nA 2 ; i 0 hg 2 + 10 i 1 near 5 - 9\n";
  EXPECT_EQ(error_of(head + "AC"), "");
  EXPECT_EQ(error_of(runs + "A 1 C 1"), "");
  expect_error(head + "A\n", "3", "this column of TAF has 1 bases, but the number of rows is 2");
  expect_error(head + "ACG\n", "3", "this column of TAF has 3 bases");
  expect_error(head + "AC G\n", "3", "'AC G'");
  expect_error(head + "A", "3", "this column of TAF has 1 bases");
  expect_error(head + "; g 0 5\n", "3", "this column of TAF has 0 bases");
  expect_error("#taf\nACGT\n", "2", "this column of TAF has 4 bases, but the number of rows is 0");
  for (const char* bad : {"AC", "A C 2", "A 0 C 2", "A 1 C", "A -1 C 2", "A 1x C 1", "AA 2"}) {
    expect_error(runs + bad + "\n", "3", "not a base and the length of its run");
  }
  expect_error(runs + "A 3\n", "3", "this column of TAF has 3 bases");
  expect_error(runs + "A 99999999999999999999 A 2\n", "3", "but the number of rows is 2");
  expect_error(head + "AC ; d 1", "3", "cut short");
}

TEST(TafParser, RefusesChangesThatItCannotRead) {
  const std::string head = "#taf\nAC ; i 0 hg.chr1 2 + 10 i 1 near.c 5 - 100\nAC ; ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"x 1", "'x' is none of the operations"},
      {"ii 1", "'ii' is none"},
      {"d 2", "the row '2', but the number of rows, counted from 0, is 2"},
      {"i 3 a 1 + 2", "the row '3'"},
      {"g -1 2", "the row '-1'"},
      {"g 0", "the length of a gap must stand"},
      {"g 0 x", "the length of a gap is 'x'"},
      {"G 0", "the bases of a gap must stand"},
      {"d", "a row must stand"},
      {"s 0 hg.chr1 7 +", "the length of a sequence must stand"},
      {"s 0 hg.chr1 7 . 10", "strand and length of 'hg.chr1' are '7', '.' and '10'"},
      {"s 0 hg.chr1 -7 + 10", "'-7'"},
      {"s 0 " + std::string(1001, 'a') + " 7 + 10", "too long"}};
  for (const auto& [change, part] : cases) {
    expect_error(head + change + "\n", "3", part);
    EXPECT_THROW(parse(head + change + "\n", 7, OnBadBlock::kSkip), FormatError);
  }
  expect_error("#taf version:2\n", "1", "'version:2'");
  expect_error("#taf run_length_encode_bases:yes\n", "1", "'run_length_encode_bases:yes'");
}

TEST(TafParser, GoesOnWhereAllPositionsAreKnownAgain) {
  const std::string text =
      "#taf\n"
      "AC- ; i 0 hg 2 + 90 i 1 near 5 - 100 i 2 far 1 + 9\n"
      "AC-\n"
      "AC- ;\n"
      "ACG\n"
      "A-\n"
      "bad, but not counted\n"
      "GGG ; s 0 hg 9 + 90\n"
      "GGG\n"
      "GGG ; s 1 near 9 + 90\n"
      "TTT ; s 1 near 19 + 90 s 0 hg 11 + 90\n"
      "CC\n"
      "TTTT ; i 0 hg 50 + 90 s 1 hg 60 + 90 s 2 near 70 + 90\n";
  for (std::size_t chunk = 1; chunk < 300; ++chunk) {
    const Parsed parsed = parse(text, chunk, OnBadBlock::kSkip);
    EXPECT_EQ(parsed.blocks,
              "@2 hg:2+90:AA near:5-100:CC far\n@13 hg:50+90:T hg:60+90:T near:70+90:T far\n");
    EXPECT_EQ(parsed.bad_lines, (std::vector<std::int64_t>{6, 8, 10, 12}));
  }
}

TEST(TafParser, CutsLongStretchesAndKeepsPositions) {
  const std::size_t n = 2 * TafParser::kMostColumns + 10;
  std::string text = "#taf\nAC ; i 0 hg 2 + 1000000 i 1 near 5 - 1000000\n";
  for (std::size_t i = 1; i < n; ++i) text += i % 4 == 0 ? "-C\n" : "Gt\n";
  BadBlocks bad("x.taf", OnBadBlock::kError);
  TafParser parser(
      bad, [](std::string_view) { return true; }, SimdLevel::kScalar);
  std::size_t columns = 0;
  std::int64_t hg = 2;
  test::read_in_chunks(text, 1000, [&](std::string_view piece, bool last) {
    return parser.consume(piece, last, [&](const MafBlock& block) {
      EXPECT_EQ(block.line, static_cast<std::int64_t>(columns) + 2);
      EXPECT_EQ(block.rows[0].row->start, hg);
      EXPECT_EQ(block.rows[1].row->start, static_cast<std::int64_t>(columns) + 5);
      hg += block.rows[0].row->size;
      columns += block.rows[1].row->columns.size();
      EXPECT_EQ(columns, std::min(n, (columns + TafParser::kMostColumns - 1) /
                                         TafParser::kMostColumns * TafParser::kMostColumns));
    });
  });
  EXPECT_EQ(columns, n);
}

TEST(TafParser, GivesAllWantedRowsOfVeryMany) {
  constexpr int n = 500;
  std::string text = "#taf run_length_encode_bases:1\nA 500 ;";
  std::string expected;
  for (int i = 0; i < n; ++i) {
    const std::string number = std::to_string(i);
    const bool is_wanted = i % 7 == 3;
    text += " i " + number + (is_wanted ? " s" + number : " far") + " " + number + " + 900";
    if (is_wanted) expected += " s" + number + ":" + number + "+900:AC";
  }
  const Parsed parsed = parse(text + "\nC 500\n", 1000);
  std::string wanted = parsed.blocks;
  for (std::size_t at = 0; (at = wanted.find(" far")) != wanted.npos;) wanted.erase(at, 4);
  EXPECT_EQ(wanted, "@2" + expected + "\n");
}

TEST(RowList, KeepsTheOrderOfRows) {
  std::mt19937 random(5);
  RowList<int> rows;
  std::vector<int> expected;
  for (int i = 0; i < 2000; ++i) {
    if (expected.size() > 20 || (!expected.empty() && random() % 2 == 0)) {
      const std::size_t at = random() % expected.size();
      rows.remove(at);
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      const std::size_t at = random() % (expected.size() + 1);
      rows.insert(at) = i;
      expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(at), i);
    }
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) ASSERT_EQ(rows[k], expected[k]);
  }
}

TEST(IsTafText, IsToldBySoMuchTextAsIsNeeded) {
  const auto check = [&](const std::string& text, bool expected) {
    bool told = false;
    for (std::size_t n = 0; n <= text.size(); ++n) {
      std::int64_t lines = 0;
      std::string_view start = std::string_view(text).substr(0, n);
      const auto answer = is_taf_text(start, false, lines);
      EXPECT_FALSE(told && !answer) << text;
      EXPECT_TRUE(!answer || *answer == expected) << text.substr(0, n);
      told = answer.has_value();
    }
    std::int64_t lines = 0;
    std::string_view whole = text;
    EXPECT_EQ(is_taf_text(whole, true, lines), expected) << text;
  };
  for (const char* const good : {"#taf", "#taf\n", "#taf version:1", "#taf\tx:y\r\n"}) {
    check(good, true);
  }
  for (const char* const other : {"", "\n", "#ta", "#ta\n", "#tafo\n", "##taf\n", "##maf\n", "a\n",
                                  "\n#taf\n", "##x\n#taf\n"}) {
    check(other, false);
  }
  // Another format may have removed lines before.
  std::int64_t removed = 1;
  std::string_view rest = "#taf\n";
  EXPECT_EQ(is_taf_text(rest, true, removed), false);
}

// Two focal rows of one line are compared with the focal genome apart.
TEST(TafProjection, ChecksEachFocalRow) {
  const std::vector<Chromosome> chromosomes = {{"chr1", 8}};
  const std::string genome = "ACGTTTTT";
  ProjectionOptions options;
  options.focal_name = "hg";
  options.on_bad_block = OnBadBlock::kSkip;
  options.open_focal = [&](std::size_t) {
    return memory_source(genome.data(), SequenceForm::kCharacters);
  };
  MemoryStore store(chromosomes);
  const TaskContext context;
  const std::string file = "x.taf";
  AlignmentProjector projector(file, {{"near", &store}}, chromosomes, options, context);
  projector.consume(
      "#taf\n"
      "AAC ; i 0 hg.chr1 0 + 8 i 1 hg.chr1 4 + 8 i 2 near 0 + 9\n"
      "CCG\n"
      "--T\n",
      true);
  const auto report = projector.finish().front();
  EXPECT_EQ(std::string(store.bases(0), 8), "CGNNNNNN");
  EXPECT_EQ(report.bad, 1);
}

}  // namespace
}  // namespace ancify
