// Decimal numbers, with strtod() as the oracle.
#include "core/io/number_parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

namespace ancify {
namespace {

TEST(NumberParser, ReadsDecimalsAsStrtodDoes) {
  std::mt19937_64 random(1);
  NumberParser parse;
  for (int i = 0; i < 100'000; ++i) {
    std::string text = std::to_string(random() % 1'000'000'000);
    if (i % 3 == 0) text.insert(random() % (text.size() + 1), ".");
    if (i % 5 == 0) text += "e" + std::to_string(static_cast<int>(random() % 600) - 300);
    if (i % 7 == 0) text.insert(0, "-");
    const double expected = std::strtod(text.c_str(), nullptr);
    const std::optional<double> value = parse(text);
    ASSERT_EQ(value.has_value(), std::isfinite(expected)) << text;
    if (value) {
      ASSERT_EQ(*value, expected) << text;
    }
  }
}

TEST(NumberParser, ReadsRareNotations) {
  NumberParser parse;
  EXPECT_EQ(parse("+1.5"), 1.5);
  EXPECT_EQ(parse(".5"), 0.5);
  EXPECT_EQ(parse("5."), 5.0);
  EXPECT_EQ(parse("1E+2"), 100.0);
  EXPECT_EQ(parse("1e-400"), 0.0);
  EXPECT_EQ(parse("4.9e-324"), 4.9e-324);
  EXPECT_TRUE(std::signbit(parse("-0").value()));
}

TEST(NumberParser, RefusesOtherText) {
  NumberParser parse;
  for (const char* text : {"", "-", ".", "e5", "1e", "1 ", "1,5", "0x10", "inf", "nan", "-infinity",
                           "1e999", "-1e999", "1.2.3", "1f"}) {
    EXPECT_EQ(parse(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ancify
