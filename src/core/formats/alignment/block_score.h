// Scores of alignment blocks in text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "core/io/number_parser.h"

namespace ancify {

// The score of a block without one; less than any other.
constexpr double kNoScore = -std::numeric_limits<double>::infinity();

class ScoreParser {
 public:
  // kNoScore for an empty text; empty for a text that is not a finite number.
  std::optional<double> operator()(std::string_view text) {
    double score = kNoScore;
    if (text.empty() || take_short_decimal(text, score)) return score;
    return number_(text);
  }

 private:
  // Parses a decimal whose digits and power of ten are both exact in double precision; false for
  // any other text.
  static bool take_short_decimal(std::string_view text, double& score) {
    constexpr std::size_t most_digits = 15;
    const bool minus = text.front() == '-';
    if (minus) text.remove_prefix(1);
    std::int64_t digits = 0;
    double scale = 0;  // 0 before the point
    std::size_t n = 0;
    for (const char c : text) {
      if (c == '.' && scale == 0) {
        scale = 1;
      } else if (c >= '0' && c <= '9') {
        digits = 10 * digits + (c - '0');
        scale *= 10;
        if (++n > most_digits) return false;
      } else {
        return false;
      }
    }
    if (n == 0) return false;
    const auto value = static_cast<double>(minus ? -digits : digits);
    score = scale == 0 ? value : value / scale;
    return true;
  }

  NumberParser number_;  // for other notations, as it is slow
};

}  // namespace ancify
