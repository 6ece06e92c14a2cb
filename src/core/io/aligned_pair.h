// Two rows of an alignment, in whatever format it came: the focal species' and an outgroup's.
#pragma once

#include <cstdint>
#include <string_view>

namespace ancify {

// Valid while the text it was parsed from is. Coordinates are those of the focal row; they count
// from 1, both ends in.
struct AlignedPair {
  std::string_view chromosome;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string_view focal;
  std::string_view outgroup;
  std::int64_t focal_gaps = 0;
  bool only_letters_and_gaps = true;  // both rows
  std::int64_t line = 0;              // that messages name
  std::string_view header;            // the whole line, of an AXT block
};

}  // namespace ancify
