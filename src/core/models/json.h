// Reads JSON: the headers and settings of models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ancify {

// A value. Members keep their order; a name that comes twice is refused.
struct Json {
  enum class Kind { kNull, kBool, kNumber, kText, kArray, kObject };
  Kind kind = Kind::kNull;
  bool flag = false;
  double number = 0;
  std::string text;
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;

  bool is(Kind wanted) const { return kind == wanted; }
  // The member of this name, or null.
  const Json* member(std::string_view name) const;
  // The value as a whole number from 0 to 2^53; empty if it is none.
  std::optional<std::int64_t> whole() const;
};

// Parses a text. FormatError that names `file`, and the line for text of several lines.
Json parse_json(std::string_view text, const std::string& file);

}  // namespace ancify
