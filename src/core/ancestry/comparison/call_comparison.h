// How the calls of several runs agree, position by position.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"

namespace ancify {

// A call: A, C, G, T of high confidence, then of low, unresolved, missing.
constexpr std::size_t kCallStates = 10;
constexpr std::size_t kCallPairs = kCallStates * kCallStates;

// Sets of runs are tabulated.
constexpr int kMostRuns = 12;

constexpr std::size_t number_of_pairs(std::size_t runs) { return runs * (runs - 1) / 2; }

// What one chromosome's positions hold. Pairs of runs are in the order (0, 1), (0, 2), ..., (1, 2).
struct CallComparison {
  // For each pair kCallPairs counts; the first run's state counts slowest.
  std::vector<std::int64_t> pairs;
  // For each set of runs how many positions exactly these call; bit i stands for run i.
  std::vector<std::int64_t> called;
  // For each window and, fastest, each pair: positions that both call, and where they differ.
  std::vector<std::int64_t> both;
  std::vector<std::int64_t> differ;
};

// Compares the sequences that open() gives, a run each, chromosome by chromosome, on the backend's
// threads. Windows are of `window` positions, but for a chromosome's last. All inputs are looked at
// before the first is counted. InputError for one run, or for more than kMostRuns.
std::vector<CallComparison> compare_calls(const std::vector<ChromosomeSequences>& chromosomes,
                                          std::int64_t window, const Backend& backend,
                                          JobControl& control);

}  // namespace ancify
