// Two aligned rows, from any format: the target's row, which defines the coordinates, and the
// query's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/formats/alignment/block_score.h"

namespace ancify {

// Views into the parsed text, valid as long as the text. Coordinates refer to the target, count
// from 1 and include both ends.
struct AlignedPair {
  std::string_view chromosome;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string_view target;
  std::string_view query;
  std::int64_t target_gaps = 0;
  bool only_letters_and_gaps = true;  // in both rows
  std::int64_t line = 0;              // line number for messages
  std::int64_t target_line = 0;       // of the target's row, if pairs of one block share it
  std::string_view header;            // the whole header line; AXT only
  double score = kNoScore;            // of the block or chain
  // True if both sequences continue where the preceding pair ended. Set only with
  // ProjectionOptions::insertions.
  bool continues = false;
};

// Receives the pairs of one query.
class PairSink {
 public:
  virtual ~PairSink() = default;
  // `duplicates` is the number of other rows left out in favour of the pair's row.
  virtual void project(const AlignedPair& pair, std::int64_t duplicates) = 0;
  // Called for a block on an unwanted chromosome.
  virtual void pass_over(std::string_view chromosome) = 0;
  // Called for an alignment left out in favour of a better one of the same outgroup bases.
  virtual void leave_out_secondary() = 0;
  // Called for a bad block.
  virtual void bad(std::int64_t line, const std::string& problem) = 0;
};

}  // namespace ancify
