// Measures the structure of a YAML text without parsing it.
#pragma once

#include <cstddef>
#include <string_view>

namespace ancify {

// Sizes that slow YAML parsers down: time may grow with their square, memory in proportion. Quotes
// are ignored, so the values may be too high.
struct YamlShape {
  std::size_t indent = 0;  // most characters before a line's first word; a level has at least one
  std::size_t collections = 0;  // lists and mappings, in brackets or not
  std::size_t keys = 0;         // keys of the largest mapping
  std::size_t entries = 0;      // lines and commas
  std::size_t merged = 0;       // the most keys that merges can add, such as "<<: *base"
};

YamlShape yaml_shape(std::string_view text);

}  // namespace ancify
