// Measures a YAML text in one pass over its bytes.
#include "core/io/yaml_shape.h"

#include <algorithm>
#include <vector>

#include "core/io/text.h"

namespace ancify {

namespace {

// Counts keys of block mappings by column, for the mappings that the next line may still continue.
class BlockKeys {
 public:
  // Takes a line whose first word is in `column`, after a dash in column `dash` if there is one.
  // Returns the number of keys of the line's mapping, or 0 if the line has no key.
  std::size_t add(std::size_t column, std::size_t dash, bool has_key) {
    const std::size_t ended = std::min(column, dash);
    while (!open_.empty() && open_.back().column > ended) open_.pop_back();
    if (!has_key) return 0;
    if (open_.empty() || open_.back().column != column) open_.push_back({column, 0});
    return ++open_.back().keys;
  }

 private:
  struct Mapping {
    std::size_t column;
    std::size_t keys;
  };
  std::vector<Mapping> open_;
};

// Counts keys of mappings in braces, by their commas.
class FlowKeys {
 public:
  std::size_t add(char c) {
    if (c == '{') open_.push_back(1);
    if (c == '}' && !open_.empty()) open_.pop_back();
    if (open_.empty()) return 0;
    return c == ',' ? ++open_.back() : open_.back();
  }

 private:
  std::vector<std::size_t> open_;
};

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

// The most keys that merges can add. A merge is of one mapping or of a list of aliases, each with
// at most as many keys as the largest mapping.
std::size_t merged_keys(std::string_view text, std::size_t keys) {
  const std::size_t merges = count_of(text, "<<");
  return merges == 0 ? 0 : (merges + count_of(text, "*")) * keys;
}

}  // namespace

YamlShape yaml_shape(std::string_view text) {
  YamlShape shape;
  const std::string_view whole = text;
  BlockKeys block_keys;
  FlowKeys flow_keys;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = trim_end(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    // The column of the first word, or the line's length if it has only dashes.
    const std::size_t column = std::min(line.find_first_not_of(" \t-?:"), line.size());
    if (column < line.size() && line[column] == '#') continue;
    const std::size_t dash = line.substr(0, column).rfind('-');
    const bool has_key = line.find_first_of(":?") != line.npos;
    shape.indent = std::max(shape.indent, column);
    const std::size_t keys = block_keys.add(column, dash, has_key);
    shape.keys = std::max(shape.keys, keys);
    // Counts a mapping that begins here, and all lists but the first, which may have begun before.
    const auto dashes =
        std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(column), '-');
    shape.collections += static_cast<std::size_t>(keys == 1) +
                         static_cast<std::size_t>(std::max<std::ptrdiff_t>(dashes - 1, 0));
    ++shape.entries;
    for (const char c : line) {
      shape.collections += static_cast<std::size_t>(c == '[' || c == '{');
      shape.entries += static_cast<std::size_t>(c == ',');
      if (c == '{' || c == '}' || c == ',') shape.keys = std::max(shape.keys, flow_keys.add(c));
    }
  }
  shape.merged = merged_keys(whole, shape.keys);
  return shape;
}

}  // namespace ancify
