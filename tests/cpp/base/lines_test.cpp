// Checks reading lines and texts of files, and their limits.
#include "core/io/lines.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/exec/errors.h"
#include "core/io/yaml_shape.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

std::vector<std::string> lines_of(const std::string& path, std::size_t longest, std::size_t chunk) {
  LineReader reader(path, longest, TaskContext(), chunk);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) {
    lines.emplace_back(line);
    EXPECT_EQ(reader.number(), static_cast<std::int64_t>(lines.size()));
  }
  return lines;
}

TEST(LineReader, ReadsTheSameWhateverTheChunks) {
  const TempDir dir;
  const std::string long_line(5000, 'x');
  const std::vector<std::string> expected = {"a b", "", "", long_line, "c"};
  for (const char* end : {"", "\n"}) {
    const std::string path =
        dir.write("x", "a b \t\r\n\n\r\n" + long_line + "\nc" + std::string(end));
    for (const std::size_t chunk : {1, 2, 3, 1000, 1 << 16}) {
      EXPECT_EQ(lines_of(path, 5000, chunk), expected);
    }
  }
  EXPECT_TRUE(lines_of(dir.write("empty", ""), 1, 1).empty());
}

TEST(LineReader, RefusesLongLines) {
  const TempDir dir;
  for (const char* end : {"", "\n", "\nx\n"}) {
    const std::string path = dir.write("x", "a\n" + std::string(100, 'x') + end);
    for (const std::size_t chunk : {1, 70, 1 << 16}) {
      EXPECT_EQ(lines_of(path, 100, chunk).size(), end[0] != 0 && end[1] != 0 ? 3U : 2U);
      const auto message = message_of<FormatError>([&] { lines_of(path, 99, chunk); });
      EXPECT_NE(message.find("line 2: this line or block is longer than"), message.npos) << message;
    }
  }
}

TEST(ReadText, TakesOneTextInUtf8) {
  const TempDir dir;
  const auto read = [&](const std::string& text, std::size_t most = 100) {
    return read_text(dir.write("x", text), most);
  };
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a\n\xc3\xa9"),
            "a\n\xc3\xa9");
  EXPECT_EQ(read(std::string(100, 'x')).size(), 100U);
  EXPECT_NE(
      message_of<FormatError>([&] { read(std::string(101, 'x')); }).find("the file is larger than"),
      std::string::npos);
  for (const std::string& bad : {std::string("a\n\xff\nb"), std::string("a\nb\0\n", 5)}) {
    const auto message = message_of<FormatError>([&] { read(bad); });
    EXPECT_NE(message.find("line 2: this line is not UTF-8 text"), message.npos) << message;
  }
  EXPECT_THROW(read_text(dir.path() + "/none", 1), FileError);
}

TEST(YamlShape, BoundsWhatIsNestedAndListed) {
  const auto keys = [](const std::string& text) { return yaml_shape(text).keys; };
  EXPECT_EQ(keys("a: 1\nb: 2\n\n# c: 3\nd:\n  e: 1\n  f: 2\ng: 1\n"), 4U);
  EXPECT_EQ(keys("- a: 1\n  b: 2\n- a: 3\n  b: 4\n- a: 1\n  b: 1\n  c: 1\n"), 3U);
  EXPECT_EQ(keys("x:\n- a: 1\n- a: 1\n- a: 1\n"), 1U);
  EXPECT_EQ(keys("? a\n? b\n? c\n"), 3U);
  EXPECT_EQ(keys("{a: 1, b: 2, c: {d: 1, e: 2}, f: 1}"), 4U);
  EXPECT_EQ(keys("x: [a, b, c, d]\n"), 1U);
  EXPECT_EQ(keys("- a\n- b\n- c\n"), 0U);
  const auto shape = yaml_shape("- - ? x\n[a, {b}]\r\n\n  y\n- - - - -");
  EXPECT_EQ(shape.indent, 9U);
  EXPECT_EQ(shape.collections, 8U);
  EXPECT_EQ(shape.entries, 5U);
  EXPECT_EQ(shape.merged, 0U);
  EXPECT_EQ(yaml_shape("a: &a {b: 1, c: 2, d: 3}\ne: {<<: [*a, *a]}\nf:\n  <<: *a\n").merged, 15U);
}

}  // namespace
}  // namespace ancify
