// Checks reading MAF in pieces of any size.
#include "core/formats/alignment/maf.h"

#include <gtest/gtest.h>

#include "chunks.h"
#include "core/ancestry/projection/focal_genome.h"
#include "core/ancestry/projection/projection.h"
#include "core/exec/errors.h"
#include "core/io/file.h"
#include "core/io/record_reader.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::read_file;
using test::TempDir;

struct Parsed {
  std::string blocks;
  std::vector<std::int64_t> bad_lines;
};

// Parses a text in chunks. Writes a block as @line, and each of its rows as source@line.
Parsed parse(const std::string& text, std::size_t chunk, OnBadBlock policy = OnBadBlock::kError) {
  BadBlocks bad("x.maf", policy);
  MafParser parser(bad);
  Parsed parsed;
  test::read_in_chunks(text, chunk, [&](std::string_view piece, bool last) {
    return parser.consume(piece, last, [&](const MafBlock& block) {
      parsed.blocks += "@" + std::to_string(block.line);
      for (const auto& line : block.rows) {
        const auto row = parse_maf_row(line);
        parsed.blocks += " " + std::string(line.source) + "@" + std::to_string(line.line) + " " +
                         (row ? std::string(row->columns) : "?");
      }
      parsed.blocks += "\n";
    });
  });
  for (const auto& example : bad.examples()) parsed.bad_lines.push_back(example.line);
  return parsed;
}

const char* const kText =
    "track name=x\n"
    "##maf version=1\n"
    "# comment\n"
    "\n"
    "a score=1\n"
    "s hg.chr1 0 3 + 10 AC-G\n"
    "q hg.chr1 99-9\n"
    "# inside\n"
    "s\tnear.c\t5\t4\t-\t100\tacgt\n"
    "i near.c C 0 C 0\n"
    "  \n"
    "e far.c 1 2 + 3 I\n"
    "a\n"
    "s hg.chr1 3 1 + 10 A\n"
    "a pass=1\n"
    "\n\n"
    "a score=2\n"
    "s hg.chr1 5 x + 10 A\n";

const char* const kBlocks =
    "@5 hg.chr1@6 AC-G near.c@9 acgt\n"
    "@13 hg.chr1@14 A\n"
    "@15\n"
    "@18 hg.chr1@19 ?\n";

TEST(MafParser, ReadsBlocksWhereverChunksEnd) {
  for (std::size_t chunk = 1; chunk < 300; ++chunk) EXPECT_EQ(parse(kText, chunk).blocks, kBlocks);
}

TEST(MafParser, ReadsCarriageReturnsAndNoFinalNewline) {
  std::string text;
  for (const char c : std::string(kText) + "s near.c 0 1 + 5 A\n") {
    if (c == '\n') text += '\r';
    text += c;
  }
  const std::string expected =
      std::string(kBlocks).substr(0, std::string(kBlocks).size() - 1) + " near.c@20 A\n";
  for (std::size_t chunk = 1; chunk < 300; ++chunk) {
    EXPECT_EQ(parse(text, chunk).blocks, expected);
    EXPECT_EQ(parse(text.substr(0, text.size() - 2), chunk).blocks, expected);
  }
}

TEST(MafParser, NamesTheLineOfWhatIsNoBlock) {
  const auto line_of = [](const std::string& text) {
    try {
      parse(text, 7);
    } catch (const FormatError& error) {
      return error.line;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(line_of("##maf\njunk\n"), 2);
  EXPECT_EQ(line_of("##maf\n\ns hg.chr1 0 1 + 2 A\n"), 3);
  EXPECT_EQ(line_of("a\ns hg.chr1 0 4 + 9 AC\nGT\n"), 3);
  EXPECT_EQ(line_of("a\nsx hg.chr1 0 1 + 9 A\n"), 2);
  EXPECT_EQ(line_of("a\ns hg.chr1 0 4 + 9 ACG"), 2);
  EXPECT_EQ(line_of("a\ns hg.chr1 0 4 + 9"), 2);
  EXPECT_EQ(line_of("a\ns hg.chr1 0 4 + 9 ACGT"), -1);
  EXPECT_EQ(line_of(std::string("\0\1\2\n", 4)), 1);
  EXPECT_EQ(line_of("##maf\na score=9000,5\ns hg.chr1 0 4 + 9 ACGT\n"), 2);
  EXPECT_EQ(line_of("a pass=2 score=inf\ns hg.chr1 0 4 + 9 ACGT\n"), 1);
  EXPECT_EQ(line_of("a score=-1e300\ns hg.chr1 0 4 + 9 ACGT\n"), -1);
  EXPECT_EQ(line_of("a score=\ns hg.chr1 0 4 + 9 ACGT\n"), -1);
}

TEST(MafParser, GoesOnBehindABadBlock) {
  const std::string text =
      "junk\n"
      "more junk\n"
      "a\n"
      "s hg.chr1 0 1 + 9 A\n"
      "\n"
      "a\n"
      "s hg.chr1 0 2 + 9 A\n"
      "C\n"
      "s near.c 0 1 + 9 A\n"
      "a\n"
      "s hg.chr1 1 1 + 9 C\n"
      "\n"
      "s near.c 0 1 + 9 A\n"
      "s near.c 0 1 + 9 A\n"
      "a\n"
      "s hg.chr1 2 1 + 9 G\n"
      "s near.c 0 1 + 9";
  for (std::size_t chunk = 1; chunk < 200; ++chunk) {
    const Parsed parsed = parse(text, chunk, OnBadBlock::kSkip);
    EXPECT_EQ(parsed.blocks, "@3 hg.chr1@4 A\n@10 hg.chr1@11 C\n");
    EXPECT_EQ(parsed.bad_lines, (std::vector<std::int64_t>{1, 8, 13, 17}));
  }
}

TEST(MafRow, IsSixFields) {
  const auto row = parse_maf_row({"hg.chr1", " 5\t3 -  1000 A-CG", 1});
  ASSERT_TRUE(row);
  EXPECT_EQ(row->start, 5);
  EXPECT_EQ(row->size, 3);
  EXPECT_TRUE(row->minus);
  EXPECT_EQ(row->source_size, 1000);
  EXPECT_EQ(row->columns, "A-CG");
  EXPECT_EQ(parse_maf_row({"hg.chr1", "0 3 + 123456789012345678 ACG", 1})->source_size,
            123'456'789'012'345'678);
  for (const char* fields : {"", " 5", " 5 3 + 1000", " -5 3 + 1000 ACG", " 5 3 . 1000 ACG",
                             " 5 3 ++ 1000 ACG", " 5 3.0 + 1000 ACG", " 5 3 + 1e3 ACG",
                             " 5 3 + 1000x ACG", " 5 3 + 1234567890123456789 ACG"}) {
    EXPECT_FALSE(parse_maf_row({"hg.chr1", fields, 1})) << fields;
  }
}

TEST(IsMafText, IsToldBySoMuchTextAsIsNeeded) {
  const auto answer_of = [](std::string_view text, bool last) {
    std::int64_t lines = 0;
    return is_maf_text(text, last, lines);
  };
  const auto check = [&](const std::string& text, bool expected) {
    bool told = false;
    for (std::size_t n = 0; n <= text.size(); ++n) {
      const auto answer = answer_of(text.substr(0, n), false);
      EXPECT_FALSE(told && !answer) << text;
      EXPECT_TRUE(!answer || *answer == expected) << text.substr(0, n);
      told = answer.has_value();
    }
    EXPECT_EQ(answer_of(text, true), expected) << text;
  };
  check(kText, true);
  check("##maf version=1\n", true);
  check("#\n\n \t\na\n", true);
  check("a score=1", true);
  check("##axt\n0 chr1 1 2 c 1 2 + 0\n", false);
  check("track name=x\nabc\n", false);
  check("tracks\n", false);
  check("# comment\n", false);
  check("", false);
}

const std::vector<Chromosome> kChromosomes = {{"chr1", 12}};

ProjectionOptions maf_options() {
  ProjectionOptions options;
  options.focal_name = "hg";
  return options;
}

const char* const kPairs =
    "##maf version=1\n"
    "a\n"
    "s near.c 0 4 + 9 AC-GT\n"
    "s hg.chr1 0 5 + 12 TTTTT\n"
    "s far 0 2 - 9 g---g\n"
    "\n"
    "a\n"
    "s far 0 3 + 9 rcg\n"
    "s hg.chr1 1 3 - 12 CGA\n";

TEST(MafProjection, ReadsAFileOnceForAllItsSpecies) {
  TempDir dir;
  const std::string maf = dir.write("a.maf", kPairs);
  const std::string axt = dir.write("a.axt", "0 chr1 2 3 c 1 2 + 0\nAC\nGT\n");
  for (const int threads : {1, 2, 4}) {
    JobControl control;
    std::vector<Alignment> alignments;
    std::vector<const MemoryStore*> stores;
    const auto add = [&](const std::string& file, const std::string& name) {
      auto store = std::make_unique<MemoryStore>(kChromosomes);
      stores.push_back(store.get());
      alignments.push_back({name, file, std::move(store), name});
    };
    add(maf, "far");
    add(axt, "other");
    add(maf, "near");
    const auto reports =
        project_alignments(alignments, kChromosomes, maf_options(), threads, control);
    const auto bases = [&](std::size_t i) { return std::string(stores[i]->bases(0), 12); };
    EXPECT_EQ(bases(0), "g---gNNNcgyN");
    EXPECT_EQ(bases(1), "NGTNNNNNNNNN");
    EXPECT_EQ(bases(2), "AC-GTNNNNNNN");
    EXPECT_EQ(reports[0].blocks.front(), 2);
    EXPECT_EQ(reports[2].blocks.front(), 1);
    EXPECT_EQ(control.expected(), InputFile(maf).size() + InputFile(axt).size());
    EXPECT_EQ(control.done(), control.expected());
  }
}

TEST(MafProjection, LeavesNoFileOfAnySpeciesWhereOneFails) {
  TempDir dir;
  const std::string maf = dir.write("a.maf", kPairs);
  JobControl control;
  std::vector<Alignment> alignments;
  for (const char* name : {"near", "elsewhere"}) {
    alignments.push_back(
        {name, maf, std::make_unique<FileStore>(dir.file("out"), kChromosomes), name});
  }
  const std::string said = message_of<FormatError>(
      [&] { project_alignments(alignments, kChromosomes, maf_options(), 1, control); });
  EXPECT_NE(said.find("no block has a source that begins with 'elsewhere'"), std::string::npos)
      << said;
  EXPECT_TRUE(dir.has_nothing_in("out"));
}

TEST(MafProjection, GivesTheFocalBases) {
  TempDir dir;
  const std::string maf = dir.write(
      "a.maf", std::string(kPairs) + "\na\ns hg.chr1 6 1 + 12 y\n\n" + "a\ns hg.chr1 7 1 + 12 a\n");
  FileStore store(dir.file("focal"), kChromosomes);
  JobControl control;
  focal_from_alignments({maf}, kChromosomes, maf_options(), store, 2, control);
  EXPECT_EQ(read_file(dir.file("focal/chr1.fa")), ">chr1\nTTTTTNNATCGN\n");
}

}  // namespace
}  // namespace ancify
