// Checks projection against a plain one, column by column.
#include "core/ancestry/projection/projection.h"

#include <gtest/gtest.h>

#include <cctype>
#include <optional>
#include <random>
#include <string_view>

#include "core/exec/errors.h"
#include "core/io/text.h"
#include "slow_projection.h"
#include "support.h"

namespace ancify {
namespace {

using test::Block;
using test::message_of;
using test::project_slowly;
using test::read_file;
using test::TempDir;

const std::vector<Chromosome> kChromosomes = {{"chr1", 200}, {"chr2", 61}, {"one", 1}};

std::vector<Block> random_blocks(std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::int64_t>(random() % n); };
  std::vector<Block> blocks;
  for (int k = 0; k < 25; ++k) {
    const auto& [name, length] = kChromosomes[static_cast<std::size_t>(below(3))];
    const std::int64_t start = 1 + below(static_cast<std::size_t>(length));
    const std::int64_t span = below(4) == 0
                                  ? length - start + 1
                                  : 1 + below(static_cast<std::size_t>(length - start + 1));
    Block block{name, start, "", ""};
    for (std::int64_t i = 0; i < span;) {
      const bool gap = below(6) == 0;
      block.target += gap ? '-' : "ACGTacgtNnRyKm"[below(14)];
      block.query += "ACGTacgtNnRyKm--"[below(16)];
      i += gap ? 0 : 1;
    }
    if (below(3) == 0) {
      block.target += "--";
      block.query += "A-";
    }
    if (below(3) > 0) block.score = static_cast<double>(below(6)) - 1;
    blocks.push_back(block);
  }
  blocks.push_back({"elsewhere", 5, "ACGT", "ACGT"});
  blocks.push_back({"one", 1, "A", "t"});
  return blocks;
}

// Blocks longer than the pieces in which bases go to a store.
std::vector<Block> long_blocks(const Chromosome& chromosome, std::mt19937& random) {
  std::vector<Block> blocks;
  for (int k = 0; k < 12; ++k) {
    const auto start = 1 + static_cast<std::int64_t>(random() % 200000);
    const auto span = 1 + static_cast<std::int64_t>(random() % 100000);
    Block block{chromosome.name, start, "", ""};
    for (std::int64_t i = 0; i < span;) {
      const bool gap = random() % (k % 2 == 0 ? 5 : 500) == 0;
      block.target += gap ? '-' : 'a';
      block.query += "ACGTacgtN-"[random() % 10];
      i += gap ? 0 : 1;
    }
    block.score = k / 3;
    blocks.push_back(block);
  }
  return blocks;
}

std::int64_t letters(const std::string& row) {
  return std::count_if(row.begin(), row.end(), [](char c) { return c != '-'; });
}

std::string axt_text(const std::vector<Block>& blocks, std::mt19937& random) {
  std::string text = "##matrix\n";
  for (const auto& block : blocks) {
    text += "0 " + block.chromosome + " " + std::to_string(block.start) + " " +
            std::to_string(block.start + letters(block.target) - 1) + " chr9 1 2 +" +
            (block.score == kNoScore ? "" : " " + std::to_string(block.score)) + "\n" +
            block.target + "\n" + block.query + "\n";
    if (random() % 4 != 0) text += "\n";
    if (random() % 4 == 0) text += "# comment\n";
  }
  return text;
}

ProjectionReport project_to_files(const std::string& axt, const std::string& folder,
                                  const ProjectionOptions& options = {}, int threads = 1) {
  JobControl control;
  std::vector<Alignment> alignments;
  alignments.push_back({"species", axt, std::make_unique<FileStore>(folder, kChromosomes)});
  return project_alignments(alignments, kChromosomes, options, threads, control).front();
}

TEST(Projection, IsThatOfTheOracleForLongBlocks) {
  TempDir dir;
  std::mt19937 random(9);
  const std::vector<Chromosome> chromosomes = {{"chr1", 300000}};
  const auto blocks = long_blocks(chromosomes.front(), random);
  const std::string axt = dir.write("a.axt", axt_text(blocks, random));
  const std::string expected = project_slowly(blocks, chromosomes.front()).bases;
  for (const auto level : test::simd_levels()) {
    ProjectionOptions options;
    options.simd = level;
    JobControl control;
    MemoryStore memory(chromosomes);
    project_alignment(axt, {{"", &memory}}, chromosomes, options, control, TaskContext());
    EXPECT_TRUE(std::string(memory.bases(0), expected.size()) == expected);
    PackedStore packed(chromosomes, level);
    project_alignment(axt, {{"", &packed}}, chromosomes, options, control, TaskContext());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(packed_code(packed.packed(0), i), base_code(expected[i])) << i;
    }
    FileStore files(dir.file("out"), chromosomes);
    project_alignment(axt, {{"", &files}}, chromosomes, options, control, TaskContext());
    EXPECT_TRUE(read_file(dir.file("out/chr1.fa")) == ">chr1\n" + expected + "\n");
  }
}

TEST(Projection, IsThatOfTheOracleForAnyChunkSize) {
  TempDir dir;
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const auto blocks = random_blocks(random);
    const std::string text = axt_text(blocks, random);
    const std::string axt = dir.write("a.axt", round % 3 == 0   ? text
                                               : round % 3 == 1 ? test::gzip(text)
                                                                : test::bgzip(text, 97));
    for (const std::size_t chunk : {1, 2, 3, 5, 17, 64, 1000, 1 << 20}) {
      ProjectionOptions options;
      options.chunk_size = chunk;
      options.overlaps = static_cast<Overlaps>(round % 3);
      MemoryStore memory(kChromosomes);
      JobControl control;
      options.simd = test::simd_levels()[chunk % test::simd_levels().size()];
      project_alignment(axt, {{"", &memory}}, kChromosomes, options, control, TaskContext());
      PackedStore packed(kChromosomes, options.simd);
      project_alignment(axt, {{"", &packed}}, kChromosomes, options, control, TaskContext());
      project_to_files(axt, dir.file("out"), options, 1 + static_cast<int>(chunk % 2));
      for (std::size_t i = 0; i < kChromosomes.size(); ++i) {
        const auto& [name, length] = kChromosomes[i];
        const std::string expected =
            project_slowly(blocks, kChromosomes[i], options.overlaps).bases;
        ASSERT_EQ(std::string(memory.bases(i), static_cast<std::size_t>(length)), expected);
        ASSERT_EQ(read_file(sequence_path(dir.file("out"), name)),
                  ">" + name + "\n" + expected + "\n");
        for (std::size_t k = 0; k < expected.size(); ++k) {
          ASSERT_EQ(packed_code(packed.packed(i), k), base_code(expected[k]));
        }
      }
    }
  }
}

TEST(Projection, CountsBlocks) {
  TempDir dir;
  std::mt19937 random(3);
  const auto blocks = random_blocks(random);
  const auto report =
      project_to_files(dir.write("a.axt", axt_text(blocks, random)), dir.file("out"));
  for (std::size_t i = 0; i < kChromosomes.size(); ++i) {
    const auto n = std::count_if(blocks.begin(), blocks.end(), [&](const Block& block) {
      return block.chromosome == kChromosomes[i].name;
    });
    EXPECT_EQ(report.blocks[i], n);
  }
  EXPECT_EQ(report.passed_over, 1);
  EXPECT_EQ(report.other_names, (std::vector<std::string>{"elsewhere"}));
}

struct BadCase {
  const char* text;
  const char* message;
};

const std::vector<BadCase> kBadBlocks = {
    {"1 chr1 1 4 c 1 4 + 0\nACGT\nACG\n", "rows differ in length (4 and 3)"},
    {"1 chr1 0 3 c 1 4 + 0\nACGT\nACGT\n", "not inside the chromosome"},
    {"1 chr1 5 4 c 1 4 + 0\n-\nA\n", "not inside the chromosome"},
    {"1 chr1 198 201 c 1 4 + 0\nACGT\nACGT\n", "chr1:198-201 are not inside"},
    {"1 chr1 1 5 c 1 4 + 0\nACGT\nACGT\n", "span 5 positions but its focal row has 4"},
    {"1 chr1 1 3 c 1 4 + 0\nACGT\nACGT\n", "span 3 positions but its focal row has 4"},
    {"1 chr1 1 4 c 1 4 + 0\nAC-T\nACGT\n", "span 4 positions but its focal row has 3"},
    {"1 chr1 1 4 c 1 4 + 0\nAC*T\nACGT\n", "characters other than letters"},
    {"1 chr1 1 4 c 1 4 + 0\nACGT\nAC.T\n", "characters other than letters"},
    {"1 chr1 1 4 c 1 4 + 0\nACGT\n", "ends in the middle"},
};

TEST(Projection, RefusesABadBlockAndLeavesNoFile) {
  TempDir dir;
  for (const auto& [text, message] : kBadBlocks) {
    const std::string axt =
        dir.write("a.axt", std::string("0 chr1 1 2 c 1 2 + 0\nTT\nTT\n\n") + text);
    const std::string said =
        message_of<FormatError>([&] { project_to_files(axt, dir.file("out")); });
    EXPECT_NE(said.find(message), std::string::npos) << said;
    EXPECT_NE(said.find("a.axt', line 5: "), std::string::npos) << said;
    EXPECT_TRUE(dir.has_nothing_in("out")) << said;
  }
}

TEST(Projection, LeavesABadBlockOutIfAsked) {
  TempDir dir;
  ProjectionOptions options;
  options.on_bad_block = OnBadBlock::kSkip;
  for (const auto& [text, message] : kBadBlocks) {
    const std::string axt = dir.write("a.axt", std::string("0 chr1 1 2 c 1 2 + 0\nTT\nTT\n\n") +
                                                   text + "2 chr1 4 5 c 1 2 + 0\nGG\nGG\n");
    const auto report = project_to_files(axt, dir.file("out"), options);
    EXPECT_EQ(report.bad, 1) << message;
    EXPECT_EQ(report.bad_examples.front().line, 5);
    EXPECT_EQ(read_file(dir.file("out/chr1.fa")).substr(6, 7), "TTNGGNN") << message;
  }
}

TEST(Projection, SaysThatNoChromosomeOccurs) {
  TempDir dir;
  const auto message = [&](const std::string& text) {
    const std::string axt = dir.write("a.axt", text);
    ProjectionOptions options;
    options.on_bad_block = OnBadBlock::kSkip;
    const std::string said =
        message_of<FormatError>([&] { project_to_files(axt, dir.file("out"), options); });
    EXPECT_TRUE(dir.has_nothing_in("out"));
    return said;
  };
  EXPECT_NE(message("").find("no alignment block"), std::string::npos);
  EXPECT_NE(message("# comment\n").find("no alignment block"), std::string::npos);
  EXPECT_NE(message("0 chr7 1 1 c 1 1 + 0\nA\nA\n").find("'chr7'"), std::string::npos);
  EXPECT_NE(message(">chr1\nACGT\n").find("Is this an AXT file?"), std::string::npos);
}

TEST(Projection, OfSeveralAlignmentsFailsWithTheFirst) {
  TempDir dir;
  const std::string good = dir.write("good.axt", "0 chr1 1 1 c 1 1 + 0\nA\nA\n");
  const std::string bad1 = dir.write("bad1.axt", "junk\n");
  const std::string bad2 = dir.write("bad2.axt", "junk\n");
  for (const int threads : {1, 2, 4}) {
    JobControl control;
    std::vector<Alignment> alignments;
    for (const auto& axt : {good, bad1, good, bad2}) {
      alignments.push_back({"s", axt, std::make_unique<MemoryStore>(kChromosomes)});
    }
    const std::string said = message_of<FormatError>(
        [&] { project_alignments(alignments, kChromosomes, {}, threads, control); });
    EXPECT_NE(said.find("bad1.axt"), std::string::npos) << said;
  }
}

TEST(Projection, StopsWhenAskedAndLeavesNoFile) {
  TempDir dir;
  const std::string axt = dir.write("a.axt", "0 chr1 1 1 c 1 1 + 0\nA\nA\n");
  JobControl control;
  control.request_stop();
  std::vector<Alignment> alignments;
  alignments.push_back({"s", axt, std::make_unique<FileStore>(dir.file("o"), kChromosomes)});
  EXPECT_THROW(project_alignments(alignments, kChromosomes, {}, 1, control), Interrupted);
  alignments.clear();
  EXPECT_TRUE(dir.has_nothing_in("o"));
}

// The result at a position is the common letter of the blocks that count, or N, so order does not
// matter.
TEST(Projection, DoesNotDependOnTheOrderOfBlocks) {
  TempDir dir;
  std::mt19937 random(8);
  for (int round = 0; round < 20; ++round) {
    auto blocks = random_blocks(random);
    for (const Overlaps overlaps : {Overlaps::kScore, Overlaps::kMissing}) {
      ProjectionOptions options;
      options.overlaps = overlaps;
      std::int64_t shared = 0;
      for (const auto& chromosome : kChromosomes) {
        shared += project_slowly(blocks, chromosome, overlaps).shared;
      }
      for (int order = 0; order < 3; ++order) {
        std::shuffle(blocks.begin(), blocks.end(), random);
        const std::string axt = dir.write("a.axt", axt_text(blocks, random));
        EXPECT_EQ(project_to_files(axt, dir.file("out"), options).shared, shared);
        for (const auto& chromosome : kChromosomes) {
          EXPECT_EQ(read_file(dir.file("out/" + chromosome.name + ".fa")),
                    ">" + chromosome.name + "\n" +
                        project_slowly(blocks, chromosome, overlaps).bases + "\n");
        }
      }
    }
  }
}

TEST(PlacedBlocks, CutsBlocksWhereTheirStandingChanges) {
  PlacedBlocks placed(2);
  const auto place = [&](std::int64_t start, std::int64_t end, double score) {
    std::string text;
    for (const auto& piece : placed.place(1, start, end, score)) {
      text += "awtl"[static_cast<int>(piece.standing)] + std::to_string(piece.start) + "-" +
              std::to_string(piece.end) + " ";
    }
    return text;
  };
  EXPECT_EQ(place(10, 20, 5), "a10-20 ");
  EXPECT_EQ(place(20, 30, 5), "a20-30 ");
  EXPECT_EQ(placed.shared(), 0);
  EXPECT_EQ(place(15, 25, 4), "l15-25 ");
  EXPECT_EQ(place(15, 25, 4), "l15-25 ");
  EXPECT_EQ(placed.shared(), 10);
  EXPECT_EQ(place(5, 35, 6), "a5-10 w10-30 a30-35 ");
  EXPECT_EQ(placed.shared(), 20);
  EXPECT_EQ(place(0, 40, 6), "a0-5 t5-35 a35-40 ");
  EXPECT_EQ(placed.shared(), 30);
  EXPECT_EQ(place(34, 36, kNoScore), "l34-36 ");
  // Over borders of pages, also by a piece alone
  EXPECT_EQ(place(50, 200'000, 1), "a50-200000 ");
  EXPECT_EQ(place(65'535, 131'073, 2), "w65535-131073 ");
  EXPECT_EQ(place(0, 200'001, 0), "l0-40 a40-50 l50-200000 a200000-200001 ");
  EXPECT_EQ(placed.place(0, 0, 10, 1).front().standing, Standing::kAlone);
}

TEST(Projection, StopsInALongHole) {
  TempDir dir;
  const std::vector<Chromosome> chromosomes = {{"chr1", std::int64_t{1} << 40}};
  const std::string end = std::to_string(chromosomes.front().length);
  const std::string axt = dir.write("a.axt", "0 chr1 " + end + " " + end + " q 1 1 +\nA\nC\n");
  class Nowhere : public SequenceStore {
    void write(std::size_t, std::int64_t, const char*, std::size_t) override {}
    void commit(const TaskContext&) override {}
  };
  std::vector<Alignment> alignments;
  alignments.push_back({"s", axt, std::make_unique<Nowhere>()});
  JobControl control;
  EXPECT_THROW(run_beside(
                   control, [&] { project_alignments(alignments, chromosomes, {}, 1, control); },
                   [&] { control.request_stop(); }),
               Interrupted);
}

// A format that needs nothing but a row: "toy", then a line for each block with its chromosome, its
// start, and the bases of both rows.
class ToyReader : public PairReader {
 public:
  std::size_t consume(std::string_view text, bool last,
                      const std::vector<PairSink*>& sinks) override {
    std::size_t used = 0;
    for (;;) {
      const std::size_t newline = text.find('\n', used);
      if (newline == text.npos) return last ? text.size() : used;
      std::string_view line = text.substr(used, newline - used);
      used = newline + 1;
      if (line == "toy") continue;
      AlignedPair pair;
      pair.chromosome = next_field(line);
      pair.start = *parse_whole_number(next_field(line));
      pair.target = next_field(line);
      pair.query = next_field(line);
      pair.end = pair.start + static_cast<std::int64_t>(pair.target.size()) - 1;
      for (PairSink* sink : sinks) sink->project(pair, 0);
    }
  }
};

TEST(Projection, ReadsAFormatThatIsARow) {
  auto formats = alignment_formats();
  formats.insert(formats.begin(),
                 {"toy", false, false,
                  [](std::string_view& text, bool last, std::int64_t&) -> std::optional<bool> {
                    if (text.size() < 3 && !last) return std::nullopt;
                    return text.substr(0, 3) == "toy";
                  },
                  [](const FileToRead&) { return std::make_unique<ToyReader>(); }});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"toy\nchr1 2 ACG TTT\nchr1 5 A G\n", "NTTTGN"},
      {"0 chr1 2 4 x 1 3 + 5\nACG\nTTT\n\n", "NTTTNN"},
  };
  for (const auto& [text, expected] : cases) {
    for (const std::size_t piece : {std::size_t{1}, text.size()}) {
      const std::vector<Chromosome> chromosomes = {{"chr1", 6}};
      MemoryStore memory(chromosomes);
      const ProjectionOptions options;
      const std::string file = "file";
      const TaskContext context;
      AlignmentProjector projector(file, {{"", &memory}}, chromosomes, options, context, formats);
      std::size_t used = 0;
      for (std::size_t end = piece; end <= text.size(); end += piece) {
        const bool last = end == text.size();
        used += projector.consume(std::string_view(text).substr(used, end - used), last);
      }
      projector.finish();
      EXPECT_EQ(std::string(memory.bases(0), expected.size()), expected);
    }
  }
}

}  // namespace
}  // namespace ancify
