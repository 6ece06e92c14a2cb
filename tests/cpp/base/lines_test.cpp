// Checks reading lines and texts of files, and their limits.
#include "core/io/lines.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/exec/errors.h"
#include "core/io/text.h"
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

// Memory stays below a multiple of the compressed size, however well the text deflates.
TEST(LineReader, RefusesATextFarLargerThanItsFile) {
  const TempDir dir;
  const std::string row = std::string(99, '1') + "\n";
  std::string rows;
  for (std::int64_t i = 0; i < kFreeText / 100 + 4096; ++i) rows += row;
  const std::string bomb = dir.write("x.gz", test::gzip(rows));
  const auto message = message_of<FormatError>([&] { lines_of(bomb, 100, std::size_t{1} << 20); });
  EXPECT_NE(message.find("times as large as the compressed file"), message.npos) << message;
  EXPECT_THROW(read_text(bomb, std::size_t{1} << 30), FormatError);
  EXPECT_EQ(read_text(dir.write("x", rows), std::size_t{1} << 30).size(), rows.size());
}

TEST(Utf8, IsJudgedAtAnyPlaceOfALine) {
  for (std::size_t before = 0; before < 18; ++before) {
    for (std::size_t after = 0; after < 10; ++after) {
      const auto within = [&](const std::string& bytes) {
        return std::string(before, 'x') + bytes + std::string(after, 'y');
      };
      for (const char* good : {"", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8d\x8e"}) {
        EXPECT_TRUE(is_utf8(within(good))) << before << ", " << after;
      }
      for (const char* bad : {"\xff", "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x8d"}) {
        EXPECT_FALSE(is_utf8(within(bad))) << before << ", " << after;
      }
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

}  // namespace
}  // namespace ancify
