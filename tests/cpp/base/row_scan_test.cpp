// Checks scans of alignment rows, at each level of vector instructions.
#include "core/formats/alignment/row_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support.h"

namespace ancify {
namespace {

TEST(ScanRow, CountsGapsAtEveryLength) {
  for (const auto level : test::simd_levels()) {
    for (std::size_t n = 0; n < 400; ++n) {
      std::string row(n, 'a');
      for (std::size_t i = 0; i < n; i += 3) row[i] = '-';
      const RowScan scan = scan_row(row, level);
      EXPECT_EQ(scan.gaps, static_cast<std::int64_t>((n + 2) / 3));
      EXPECT_TRUE(scan.only_letters_and_gaps);
    }
    EXPECT_EQ(scan_row(std::string(100000, '-'), level).gaps, 100000);
  }
}

TEST(ScanRow, FindsEveryOtherCharacterAnywhere) {
  for (const auto level : test::simd_levels()) {
    for (int c = 0; c < 256; ++c) {
      const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
      for (const std::size_t at : {0, 1, 63, 127, 128, 200, 299}) {
        std::string row(300, 'G');
        row[at] = static_cast<char>(c);
        EXPECT_EQ(scan_row(row, level).only_letters_and_gaps, good) << c << " at " << at;
      }
    }
  }
}

TEST(ScanLine, FindsTheLinesEndWhereverItIs) {
  for (const auto level : test::simd_levels()) {
    for (std::size_t n = 0; n < 300; ++n) {
      for (const char* end : {"", "\n", "\r\n", " \t\r\n", "\nAC-GT\n", "\n\n"}) {
        std::string row(n, 'a');
        for (std::size_t i = 0; i < n; i += 3) row[i] = '-';
        const std::string text = row + end;
        const LineScan line = scan_line(text, level);
        EXPECT_EQ(line.size, n);
        EXPECT_EQ(line.newline, std::min(text.find('\n'), text.size()));
        EXPECT_EQ(line.row.gaps, static_cast<std::int64_t>((n + 2) / 3));
        EXPECT_TRUE(line.row.only_letters_and_gaps);
        if (n == 0) continue;
        std::string bad = text;
        bad[n / 2] = '*';
        EXPECT_FALSE(scan_line(bad, level).row.only_letters_and_gaps);
      }
    }
  }
}

TEST(CopyColumns, LeavesOutTheFocalGapsWhereverTheyAre) {
  std::mt19937 random(8);
  for (const auto level : test::simd_levels()) {
    for (std::size_t n = 0; n < 300; ++n) {
      const unsigned gap_every = 1 + n % 7 * n % 40;
      std::string focal(n, 'a');
      std::string row(n, '\0');
      std::string expected;
      for (std::size_t i = 0; i < n; ++i) {
        row[i] = static_cast<char>(random());
        if (random() % gap_every == 0) focal[i] = '-';
        if (focal[i] != '-') expected += row[i];
      }
      std::string copy(n, '?');
      copy.resize(copy_columns(focal, row.data(), &copy[0], level));
      EXPECT_EQ(copy, expected);
    }
  }
}

}  // namespace
}  // namespace ancify
