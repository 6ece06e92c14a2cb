// Small helpers for text in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ancify {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// True if c is one of A to Z, in either case.
inline bool is_letter(char c) { return static_cast<unsigned char>((c | 0x20) - 'a') < 26; }

// `text` without trailing blanks and carriage returns.
inline std::string_view trim_end(std::string_view text) {
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Splits off and returns the first field, without surrounding blanks; empty if no field is left.
inline std::string_view next_field(std::string_view& text) {
  std::size_t begin = 0;
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  std::size_t end = begin;
  while (end < text.size() && !is_blank(text[end])) ++end;
  const std::string_view field = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return field;
}

// True if a text is valid UTF-8. Takes eight bytes of ASCII at once.
inline bool is_utf8(std::string_view text) {
  constexpr std::uint64_t beyond_ascii = 0x8080808080808080;
  for (std::size_t i = 0; i < text.size();) {
    std::uint64_t eight = beyond_ascii;
    if (i + sizeof eight <= text.size()) std::memcpy(&eight, &text[i], sizeof eight);
    if ((eight & beyond_ascii) == 0) {
      i += sizeof eight;
      continue;
    }
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
    };
    const unsigned lead = byte(i);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xc2 && lead < 0xe0 ? 1
                             : lead >= 0xe0 && lead < 0xf0 ? 2
                             : lead >= 0xf0 && lead < 0xf5 ? 3
                                                           : 4;
    if (more == 4) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    }
    i += 1 + more;
  }
  return true;
}

// Parses an integer of at most 18 digits; empty for any other text.
inline std::optional<std::int64_t> parse_whole_number(std::string_view text) {
  constexpr std::size_t most_digits = 18;
  if (text.empty() || text.size() > most_digits) return {};
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + (c - '0');
  }
  return value;
}

// A number for a message.
inline std::string number_text(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

// The start of a text, quoted for a message: at most 40 printable characters.
inline std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

// The first few names, quoted for a message.
inline std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t most_shown = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most_shown); ++i) {
    list += (i > 0 ? ", " : "") + excerpt(names[i]);
  }
  return list + (names.size() > most_shown ? ", ..." : "");
}

}  // namespace ancify
