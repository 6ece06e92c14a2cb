// Checks very long, very large or very many inputs; RELIABILITY.md has the table.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "core/ancestry/projection/projection.h"
#include "core/exec/errors.h"
#include "core/formats/alignment/axt.h"
#include "core/formats/alignment/maf.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_source.h"
#include "core/io/memory.h"
#include "core/io/record_reader.h"
#include "core/io/record_size.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

constexpr std::int64_t kBeyond = (std::int64_t{1} << 31) + 5000;

// Counts the bases written, and keeps those other than N.
class SparseStore : public SequenceStore {
 public:
  void write(std::size_t, std::int64_t position, const char* bases, std::size_t n) override {
    written_ += static_cast<std::int64_t>(n);
    if (n == all_n_.size() && std::memcmp(bases, all_n_.data(), n) == 0) return;
    for (std::size_t i = 0; i < n; ++i) {
      if (bases[i] != 'N') bases_[position + static_cast<std::int64_t>(i)] = bases[i];
    }
  }
  void commit(const TaskContext&) override {}
  std::int64_t written() const { return written_; }
  std::string at(std::int64_t position, std::int64_t n) const {
    std::string text;
    for (std::int64_t i = position; i < position + n; ++i) {
      text += bases_.count(i) > 0 ? bases_.at(i) : 'N';
    }
    return text;
  }
  std::size_t known() const { return bases_.size(); }

 private:
  const std::string all_n_ = std::string(1 << 16, 'N');
  std::int64_t written_ = 0;
  std::map<std::int64_t, char> bases_;
};

// Projects a file made of the texts that next() gives, until one is empty.
template <class Next>
std::vector<ProjectionReport> project_text(const std::vector<Chromosome>& chromosomes,
                                           const std::vector<ProjectionTarget>& targets,
                                           std::size_t chunk, Next next) {
  const std::string file = "input";
  const TaskContext context;
  ProjectionOptions options;
  options.focal_name = "h";
  options.simd = best_simd_level();
  AlignmentProjector projector(file, targets, chromosomes, options, context);
  std::string text;
  std::size_t at = 0;
  const auto read = [&](char* out, std::size_t n) {
    if (at == text.size()) {
      text = next();
      at = 0;
    }
    const std::size_t got = text.copy(out, n, at);
    at += got;
    return got;
  };
  for_each_chunk(read, chunk, context,
                 [&](std::string_view piece, bool last) { return projector.consume(piece, last); });
  return projector.finish();
}

auto once(const std::string& text) {
  return [text, done = false]() mutable { return std::exchange(done, true) ? "" : text; };
}

std::string axt_block(std::int64_t start, const std::string& row) {
  const auto end = start + static_cast<std::int64_t>(row.size()) - 1;
  return "0 chr1 " + std::to_string(start) + " " + std::to_string(end) + " c 1 2 + 0\n" + row +
         "\n" + row + "\n\n";
}

TEST(Limits, PositionsBeyond2To31) {
  const std::vector<Chromosome> chromosomes = {{"chr1", kBeyond}};
  const std::int64_t middle = (std::int64_t{1} << 31) - 1;
  const auto row = [](std::int64_t start, const char* strand, const char* bases) {
    return "a\ns h.chr1 " + std::to_string(start) + " 4 " + strand + " " + std::to_string(kBeyond) +
           " " + bases + "\ns n.c 0 4 + 9 " + bases + "\n\n";
  };
  const std::string axt =
      axt_block(3, "ACGT") + axt_block(middle, "CCGG") + axt_block(kBeyond - 3, "TTAA");
  const std::string maf = "##maf\n" + row(2, "+", "ACGT") + row(middle - 1, "+", "CCGG") +
                          row(0, "-", "TTAA");  // the last four positions
  for (const std::string& text : {axt, maf}) {
    SparseStore store;
    project_text(chromosomes, {{"n", &store}}, 1 << 12, once(text));
    EXPECT_EQ(store.written(), kBeyond);
    EXPECT_EQ(store.known(), 12U);
    EXPECT_EQ(store.at(1, 6), "NACGTN");
    EXPECT_EQ(store.at(middle - 2, 6), "NCCGGN");
    EXPECT_EQ(store.at(kBeyond - 5, 5), "NTTAA");
  }
}

TEST(Limits, PackedBasesBeyond2To31) {
  const std::vector<Chromosome> chromosomes = {{"chr1", kBeyond}, {"chr2", 16}};
  for (const auto level : test::simd_levels()) {
    PackedStore store(chromosomes, level);
    constexpr auto group = static_cast<std::int64_t>(kPackedGroup);
    const std::int64_t start = kBeyond / group * group - group;
    store.write(0, start + 3, "ACGTACGTACGTACGTACG", 19);
    const auto source = memory_source(store.packed(0), SequenceForm::kPacked);
    const char* const packed = source->bases(start, 32, nullptr);
    std::string bases;
    for (std::size_t i = 3; i < 22; ++i) bases += upper_base(packed_code(packed, i));
    EXPECT_EQ(bases, "ACGTACGTACGTACGTACG");
    EXPECT_EQ(store.packed(1) - store.packed(0), static_cast<std::int64_t>(packed_size(kBeyond)));
  }
}

// Blocks of one column and of 50 million, read in chunks of two sizes.
TEST(Limits, BlocksOf1AndOf50MillionColumns) {
  constexpr std::int64_t columns = 50'000'000;
  const std::vector<Chromosome> chromosomes = {{"chr1", columns + 2}};
  std::string row(columns, 'A');
  for (std::size_t i = 0; i < row.size(); i += 1000) row[i] = 'C';
  const std::string header = "0 chr1 2 " + std::to_string(columns + 1) + " c 1 2 + 0\n";
  const auto maf_row = [&](const std::string& source, const std::string& n) {
    return "s " + source + " 1 " + n + " + " + std::to_string(columns + 2) + " ";
  };
  const std::string size = std::to_string(columns);
  const std::vector<std::string> axt = {axt_block(1, "G"),          header, row, "\n", row, "\n\n",
                                        axt_block(columns + 2, "T")};
  const std::vector<std::string> maf = {
      "a\n" + maf_row("h.chr1", "1").replace(9, 1, "0") + "G\n" + maf_row("n.c", "1") + "G\n\n",
      "a\n" + maf_row("h.chr1", size),
      row,
      "\n" + maf_row("n.c", size),
      row,
      "\n\n"};
  for (const auto* pieces : {&axt, &maf}) {
    for (const std::size_t chunk : {1000, 1 << 18}) {
      MemoryStore store(chromosomes);
      std::size_t piece = 0;
      const auto reports = project_text(chromosomes, {{"n", &store}}, chunk, [&] {
        return piece == pieces->size() ? std::string() : (*pieces)[piece++];
      });
      EXPECT_EQ(reports[0].blocks[0], pieces == &axt ? 3 : 2);
      const std::string_view bases(store.bases(0), columns + 2);
      EXPECT_EQ(bases.substr(0, 3), "GCA");
      EXPECT_EQ(bases.substr(1, columns), row);
      EXPECT_EQ(bases.back(), pieces == &axt ? 'T' : 'N');
    }
  }
}

TEST(Limits, LinesThatDoNotEndAreAnError) {
  Memory memory(longest_record() + 1);  // hardly touched, so it takes little memory
  const std::string_view endless(memory.data(), longest_record() + 1);
  const std::string_view longest = endless.substr(1);
  BadBlocks bad("x", OnBadBlock::kSkip);
  const auto ignore = [](const auto&) {};
  const auto begin_with = [&](const std::string& head) {
    std::memcpy(memory.data(), head.data(), head.size());
  };
  const std::string expected = "'x', line 7: this line or block is longer than ";

  AxtParser axt(bad, best_simd_level(), 6);
  EXPECT_EQ(axt.consume(longest.substr(0, kLongestLine), false, ignore), 0U);
  const auto header = message_of<FormatError>(
      [&] { axt.consume(longest.substr(0, kLongestLine + 1), false, ignore); });
  EXPECT_EQ(header.find(expected + "1 MB"), 0U) << header;
  // A row may have as many bases as the header says, and as many gaps, or 16 MB if that is more.
  begin_with("0 chr1 1 20 c 1 20 + 0\n");
  constexpr std::size_t gaps = std::size_t{1} << 24;
  EXPECT_EQ(axt.consume(endless.substr(0, gaps), false, ignore), 0U);
  const auto row =
      message_of<FormatError>([&] { axt.consume(endless.substr(0, gaps + 100), false, ignore); });
  EXPECT_EQ(row.find(expected + "16 MB"), 0U) << row;
  begin_with("0 chr1 1 4000000000000 c 1 20 + 0\n");
  EXPECT_EQ(axt.consume(endless.substr(0, longest_record()), false, ignore), 0U);
  EXPECT_THROW(axt.consume(endless, false, ignore), FormatError);

  begin_with(std::string(40, '\0'));
  MafParser maf(bad, 6);
  EXPECT_EQ(maf.consume(longest, false, ignore), 0U);
  EXPECT_THROW(maf.consume(endless, false, ignore), FormatError);
  MafParser of_short_chromosomes(bad, 6, longest_row(1000));
  EXPECT_EQ(of_short_chromosomes.consume(longest.substr(0, gaps), false, ignore), 0U);
  EXPECT_THROW(of_short_chromosomes.consume(longest.substr(0, gaps + 1001), false, ignore),
               FormatError);
  begin_with("#");
  EXPECT_THROW(of_short_chromosomes.consume(endless.substr(0, kLongestLine + 1), false, ignore),
               FormatError);
  EXPECT_GE(longest_record(), std::size_t{1} << 28);
  EXPECT_LE(longest_record(), std::max(memory_size() / 32, std::size_t{1} << 28));
}

TEST(Limits, RowsOfABlockAreCounted) {
  BadBlocks bad("x", OnBadBlock::kSkip);
  MafParser maf(bad);
  std::string text = "a\n";
  for (int i = 0; i <= 1'000'000; ++i) text += "s\n";
  EXPECT_THROW(maf.consume(text, false, [](const auto&) {}), FormatError);
}

TEST(Limits, LongestRow) {
  constexpr std::size_t megabyte = std::size_t{1} << 20;
  EXPECT_EQ(longest_row(-5), 16 * megabyte);
  EXPECT_EQ(longest_row(10), 16 * megabyte + 10);
  EXPECT_EQ(longest_row(100'000'000), 200'000'000U);
  EXPECT_EQ(longest_row(std::numeric_limits<std::int64_t>::max()), longest_record());
}

// Empty lines and comments are dropped before the format is known, but line numbers count them.
TEST(Limits, NothingIsKeptOfEmptyLinesAndComments) {
  const TempDir dir;
  const std::vector<Chromosome> chromosomes = {{"chr1", 10}};
  const std::string line = "# nothing\n\n";
  const std::string file = "input";
  SparseStore store;
  const std::vector<ProjectionTarget> targets = {{"n", &store}};
  const ProjectionOptions options;
  const TaskContext context;
  AlignmentProjector projector(file, targets, chromosomes, options, context);
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += line;
  EXPECT_EQ(projector.consume(lines, false), lines.size());
  EXPECT_EQ(projector.consume("# ", false), 0U);
  const auto message =
      message_of<FormatError>([&] { projector.consume("# x\n0 chr1 1 2\n", true); });
  EXPECT_EQ(message.find("'input', line 2002: "), 0U) << message;
}

// A MAF may have a track line, an AXT may not. So the line is kept until the format is known.
TEST(Limits, ATrackLineIsABadOneOfAnAxt) {
  const std::string block = "0 chr1 1 2 c 1 2 + 0\nAC\nAC\n";
  for (const std::size_t chunk : {1, 3, 1 << 12}) {
    SparseStore store;
    const auto message = message_of<FormatError>([&] {
      project_text({{"chr1", 10}}, {{"n", &store}}, chunk, once("# x\n\ntrack a\n# y\n" + block));
    });
    EXPECT_NE(message.find("line 3: not the header of an AXT block: 'track a'"), message.npos)
        << message;
  }
}

TEST(Limits, NamesThatAreRememberedAreCut) {
  SparseStore store;
  const std::string name(1 << 20, 'x');
  const auto message = message_of<FormatError>([&] {
    project_text({{"chr1", 10}}, {{"n", &store}}, 1 << 12,
                 once("0 " + name + " 1 2 c 1 2 + 0\nAC\nAC\n"));
  });
  EXPECT_LT(message.size(), 500U);
  EXPECT_NE(message.find("'xxx"), message.npos) << message;
}

TEST(Limits, MoreFilesThanTheSystemAllowsAtFirst) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  constexpr rlim_t few = 64;
  if (before.rlim_max < 4 * few) GTEST_SKIP() << "the system allows no more";
  const TempDir dir;
  const std::string path = dir.write("x", "text");
  const rlimit limit = {few, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  std::vector<std::unique_ptr<InputFile>> files;
  EXPECT_NO_THROW({
    for (rlim_t i = 0; i < 2 * few; ++i) files.push_back(std::make_unique<InputFile>(path));
  });
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace ancify
