// Two rows of an alignment, in whatever format it came: the target's, in whose coordinates it is,
// and the query's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ancify {

// Valid while the text it was parsed from is. Coordinates are those of the target; they count
// from 1, both ends in.
struct AlignedPair {
  std::string_view chromosome;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string_view target;
  std::string_view query;
  std::int64_t target_gaps = 0;
  bool only_letters_and_gaps = true;  // both rows
  std::int64_t line = 0;              // that messages name
  std::int64_t target_line = 0;       // of the target's row, where pairs of one block share it
  std::string_view header;            // the whole line, of an AXT block
};

// Where the pairs of one query go.
class PairSink {
 public:
  virtual ~PairSink() = default;
  // `duplicates`: rows that were left out for those of the pair.
  virtual void project(const AlignedPair& pair, std::int64_t duplicates) = 0;
  // A block on a chromosome that was not asked for.
  virtual void pass_over(std::string_view chromosome) = 0;
  virtual void bad(std::int64_t line, const std::string& problem) = 0;
};

}  // namespace ancify
