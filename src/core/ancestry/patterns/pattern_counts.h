// How often each site pattern occurs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/backend.h"
#include "core/exec/job_control.h"
#include "core/genome/chromosome_sequences.h"

namespace ancify {

// The patterns that occur, ordered by the state of the first leaf, then of the second, ...
struct PatternCounts {
  int leaves = 0;
  std::vector<std::uint8_t> states;  // base codes or kMissing, `leaves` for each pattern
  std::vector<std::int64_t> counts;

  std::size_t size() const { return counts.size(); }
  const std::uint8_t* pattern(std::size_t i) const {
    return &states[i * static_cast<std::size_t>(leaves)];
  }
};

// Counts each chromosome's patterns, all positions, on the backend's threads. The leaves are the
// sequences that open() gives, any number: outgroups inner then outer, then perhaps the focal
// species. All inputs are looked at before the first is counted.
std::vector<PatternCounts> count_patterns(const std::vector<ChromosomeSequences>& chromosomes,
                                          const Backend& backend, JobControl& control);

}  // namespace ancify
