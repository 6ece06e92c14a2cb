// Counts of site patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/patterns/site_patterns.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"
#include "core/genome/chromosome_sequences.h"

namespace ancify {

// The patterns that occur, sorted by the state of the first leaf, then of the second, and so on.
struct PatternCounts {
  int leaves = 0;
  std::vector<std::uint8_t> states;  // base codes or kMissing, `leaves` for each pattern
  std::vector<std::int64_t> counts;

  std::size_t size() const { return counts.size(); }
  const std::uint8_t* pattern(std::size_t i) const {
    return &states[i * static_cast<std::size_t>(leaves)];
  }
};

// Counts the patterns of sites. Only one thread at a time may use it.
class PatternCounter {
 public:
  virtual ~PatternCounter() = default;
  virtual void count(const Sites& sites, SimdLevel level) = 0;
  // Calls take(states, count) for every pattern that occurred, in any order.
  using Take = std::function<void(const int* states, std::int64_t count)>;
  virtual void for_each(const Take& take) const = 0;
};

// `leaves`: the sequences of sites.
std::unique_ptr<PatternCounter> make_pattern_counter(int leaves);

// Adds up patterns in any order, of which some are equal.
PatternCounts sum_of(const std::vector<PatternCounts>& parts, int leaves);
PatternCounts sum_of(const std::vector<std::unique_ptr<PatternCounter>>& counters, int leaves);

// Counts the patterns at all positions of each chromosome, on the backend's threads. open() gives
// one sequence a leaf: inner outgroups, outer outgroups, then optionally the focal species. All
// inputs are opened before counting starts, so errors come early. With `classed_by` outgroups the
// class of a site by its neighbours (neighbours.h) is one more leaf, the last.
std::vector<PatternCounts> count_patterns(const std::vector<ChromosomeSequences>& chromosomes,
                                          const Backend& backend, JobControl& control,
                                          int classed_by = 0);

}  // namespace ancify
