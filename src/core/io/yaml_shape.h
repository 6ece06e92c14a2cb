// How a text in YAML is built, as far as can be seen without parsing it.
#pragma once

#include <cstddef>
#include <string_view>

namespace ancify {

// Parsers take time in the square of these, or memory in proportion to them. Quotes are not looked
// at, so that a text may count as more than it is.
struct YamlShape {
  std::size_t indent = 0;       // most signs before a line's first word: a level takes one, or more
  std::size_t collections = 0;  // lists and mappings, in brackets or not
  std::size_t keys = 0;         // of the largest mapping
  std::size_t entries = 0;      // lines and what commas divide
  std::size_t merged = 0;       // at most so many keys come of merges, as "<<: *base" is one
};

YamlShape yaml_shape(std::string_view text);

}  // namespace ancify
