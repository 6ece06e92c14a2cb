// Reads the blocks of an AXT file into memory, as pairs of ranges with their sequences.
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

// A row and its range. Coordinates count from 1 and include both ends.
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
  double score = 0;    // NaN if absent
};

struct AxtPairsOptions {
  OnBadBlock on_bad_block = OnBadBlock::kError;
  std::size_t chunk_size = 1 << 18;
  SimdLevel simd = SimdLevel::kScalar;
  int threads = 1;
  // The target's chromosomes to read; all if empty.
  std::unordered_set<std::string> chromosomes;
  // Lengths of the query's chromosomes. AXT counts positions on the minus strand from the
  // chromosome's end. Lengths convert them to the plus strand; without lengths they remain as they
  // are.
  std::unordered_map<std::string, std::int64_t> query_lengths;
};

struct AxtPairs {
  std::vector<AxtPair> pairs;  // in the file's order
  std::int64_t bad = 0;        // the number of blocks left out
  std::vector<BadBlocks::Example> bad_examples;
};

// Reads a file. Throws FormatError for a bad block unless bad blocks are skipped, if no block is
// wanted, and for a query chromosome without a length.
AxtPairs read_axt_pairs(const std::string& path, const AxtPairsOptions& options,
                        JobControl& control);

}  // namespace ancify
