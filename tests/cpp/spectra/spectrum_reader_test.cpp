// Checks reading files of spectra.
#include "core/spectra/spectrum_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/exec/errors.h"
#include "core/io/record_size.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

TEST(SpectrumReader, GoesFromLineToLine) {
  const TempDir dir;
  SpectrumReader reader(
      dir.write("x", "# a\xff\n \t\n3 folded \"A\" \r\n#\n  1e3 -Inf\tnan .5\n\n 7 8"));
  ASSERT_TRUE(reader.next_line());
  EXPECT_EQ(reader.line(), 3);
  EXPECT_EQ(reader.text(), "3 folded \"A\"");
  ASSERT_TRUE(reader.next_line());
  EXPECT_EQ(reader.line(), 5);
  std::vector<double> numbers(4);
  EXPECT_EQ(reader.numbers(numbers.data(), 4, "counts"), 4);
  EXPECT_EQ(numbers[0], 1000);
  EXPECT_EQ(numbers[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(numbers[2]));
  EXPECT_EQ(numbers[3], 0.5);
  ASSERT_TRUE(reader.next_line());
  EXPECT_EQ(reader.numbers(numbers.data(), 1, "mask"), 2);
  EXPECT_FALSE(reader.next_line());
  EXPECT_EQ(reader.line(), 7);
}

TEST(SpectrumReader, RefusesWhatIsNoNumber) {
  const TempDir dir;
  for (const char* word : {"x", "1x", "0x10", "--1", "1e", "nanx", "infinity", "NA", "\xff"}) {
    SpectrumReader reader(dir.write("x", std::string("\n1 ") + word + " 2\n"));
    ASSERT_TRUE(reader.next_line());
    std::vector<double> numbers(3);
    const auto message =
        message_of<FormatError>([&] { reader.numbers(numbers.data(), 3, "counts"); });
    EXPECT_NE(message.find("line 2: "), message.npos) << word;
  }
  SpectrumReader reader(dir.write("x", std::string(kLongestLine + 1, '3')));
  ASSERT_TRUE(reader.next_line());
  EXPECT_THROW(reader.text(), FormatError);
}

}  // namespace
}  // namespace ancify
