// Reads JSON: headers and settings of models, metadata of arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ancify {

// A value. Members keep their order; duplicate names are refused.
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
  // The value as an integer from 0 to 2^53; empty if it is not one.
  std::optional<std::int64_t> whole() const;
};

// Parses a text. FormatError names `file`, and the line if the text has several.
Json parse_json(std::string_view text, const std::string& file);

}  // namespace ancify
