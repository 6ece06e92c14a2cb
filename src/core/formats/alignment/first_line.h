// Finds the first line of a text that tells its format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/io/text.h"

namespace ancify {

struct FirstLine {
  std::string_view line;  // without trailing blanks
  bool whole = false;     // false if the line may continue in further text
};

// The first line that is neither empty nor a comment; empty if the text has none. Takes the lines
// before it off the start of the text, and adds their number to `lines`. With `last` no more text
// follows.
inline std::optional<FirstLine> first_line(std::string_view& text, bool last, std::int64_t& lines) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = trim_end(text.substr(0, newline));
    const bool whole = newline != text.npos || last;
    if (!line.empty() && line.front() != '#') return FirstLine{line, whole};
    if (!whole) return {};
    text.remove_prefix(newline == text.npos ? text.size() : newline + 1);
    ++lines;
  }
  return {};
}

}  // namespace ancify
