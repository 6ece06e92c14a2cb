// Checks recombination maps in their formats, and errors in bad ones.
#include "core/ld/recombination_map.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

RecombinationMap read(const std::string& text, std::size_t chunk = 1 << 16) {
  const test::TempDir dir;
  return read_recombination_map(dir.write("map", text), TaskContext(), chunk);
}

void expect_rows(const RecombinationMap& map) {
  EXPECT_EQ(map.chromosomes, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(map.chromosome, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(map.position, (std::vector<std::int64_t>{10, 200, 5}));
  EXPECT_EQ(map.centimorgans, (std::vector<double>{0, 0.5, 1e-3}));
}

TEST(RecombinationMap, HasThreeFormats) {
  const std::string hapmap =
      "Chromosome\tPosition(bp)\tRate(cM/"
      "Mb)\tMap(cM)\n1\t10\t2\t0\n1\t200\t0\t0.5\n2\t5\t1\t1e-3\n";
  expect_rows(read(hapmap));
  expect_rows(read(hapmap, 3));
  expect_rows(read(test::gzip(hapmap)));
  expect_rows(read("# a comment\n1 a 0 10\n\n1 b 0.5 200\n2 c 0.001 5"));
  expect_rows(read("1 0 10\n1 0.5 200\n2 0.001 5\n"));
}

TEST(RecombinationMap, ErrorsNameTheLine) {
  const auto line_of = [](const std::string& text) {
    try {
      read(text);
    } catch (const FormatError& error) {
      return error.line;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(line_of("1 0 10\n1 1 9\n"), 2);          // position
  EXPECT_EQ(line_of("1 0 10\n1 1 10\n"), 2);         // twice
  EXPECT_EQ(line_of("1 2 10\n\n1 1 11\n"), 3);       // map
  EXPECT_EQ(line_of("1 0 10\n2 1 9\n1 3 20\n"), 3);  // chromosome
  EXPECT_EQ(line_of("1 0 10\n1 1 11 x\n"), 2);       // columns
  EXPECT_EQ(line_of("1 0 10\n1 nan 11\n"), 2);       // no number
  EXPECT_EQ(line_of("1 0 -10\n"), 1);                // no position
  EXPECT_EQ(line_of("a b\n"), 1);
  EXPECT_EQ(line_of("1 0 10\n1 0 11\n"), 0);    // the same everywhere
  EXPECT_EQ(line_of("Chromosome a b c\n"), 0);  // no rows
  EXPECT_EQ(line_of(""), 0);
}

}  // namespace
}  // namespace ancify
