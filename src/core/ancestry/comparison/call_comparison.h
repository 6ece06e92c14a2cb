// Agreement of the calls of several runs, position by position.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"

namespace ancify {

// States of a call: A, C, G, T of high confidence, then of low confidence, unresolved, missing.
constexpr std::size_t kCallStates = 10;
constexpr std::size_t kCallPairs = kCallStates * kCallStates;

// The most runs that can be compared: each set of runs has a count.
constexpr int kMostRuns = 12;

constexpr std::size_t number_of_pairs(std::size_t runs) { return runs * (runs - 1) / 2; }

// Counts of one chromosome. Pairs of runs are in the order (0, 1), (0, 2), ..., (1, 2), ...
struct CallComparison {
  // For each pair, kCallPairs counts; the state of the first run counts slowest.
  std::vector<std::int64_t> pairs;
  // For each set of runs, the positions that exactly these runs call; bit i stands for run i.
  std::vector<std::int64_t> called;
  // [window * pairs + pair]: positions that both runs call, and those where the bases differ.
  std::vector<std::int64_t> both;
  std::vector<std::int64_t> differ;
};

// Letters that are not calls. Genomes have some, such as R for A or G.
enum class OtherLetters { kRefused, kMissing };

// Compares the sequences that open() gives, one a run, on the backend's threads; one result a
// chromosome. Windows have `window` positions; a chromosome's last may be shorter. All inputs are
// opened before counting starts. InputError for fewer than 2 or more than kMostRuns runs, or for
// letters that are not calls, unless they count as missing.
std::vector<CallComparison> compare_calls(const std::vector<ChromosomeSequences>& chromosomes,
                                          std::int64_t window, const Backend& backend,
                                          JobControl& control,
                                          OtherLetters others = OtherLetters::kRefused);

}  // namespace ancify
