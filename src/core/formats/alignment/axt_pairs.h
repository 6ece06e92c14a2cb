// The blocks of an AXT file as pairs of ranges with their sequences, in memory.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/formats/alignment/bad_blocks.h"

namespace ancify {

// Coordinates count from 1, both ends in.
struct AxtRow {
  std::string chromosome;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string bases;
};

struct AxtPair {
  AxtRow target;
  AxtRow query;
  bool minus = false;  // the query's strand
  double score = 0;    // NaN where there is none
};

struct AxtPairsOptions {
  OnBadBlock on_bad_block = OnBadBlock::kError;
  std::size_t chunk_size = 1 << 18;
  SimdLevel simd = SimdLevel::kScalar;
  int threads = 1;
  // The target's chromosomes whose blocks are wanted; all if it is empty.
  std::unordered_set<std::string> chromosomes;
  // AXT counts a minus strand's positions from the chromosome's end. With the query's lengths
  // they are counted from its start as on the plus strand; without they stay.
  std::unordered_map<std::string, std::int64_t> query_lengths;
};

struct AxtPairs {
  std::vector<AxtPair> pairs;  // in the file's order
  std::int64_t bad = 0;        // blocks left out
  std::vector<BadBlocks::Example> bad_examples;
};

// FormatError for a bad block unless they are skipped, where no block is wanted, and for an
// query's chromosome without a length.
AxtPairs read_axt_pairs(const std::string& path, const AxtPairsOptions& options,
                        JobControl& control);

}  // namespace ancify
