// Sums over pairs of samples by their patterns, for each level of vector instructions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/device/simd.h"
#include "core/genotypes/call_patterns.h"

namespace ancify {

// Columns of an n x n matrix that are processed together.
constexpr std::int64_t kStripeColumns = 16;
// Groups of variants whose tables are used together.
constexpr std::size_t kGroupsAtOnce = 8;

// Values in a row over patterns, zero-padded so that loops need no remainder.
inline std::size_t pattern_stride(int count) { return static_cast<std::size_t>(count + 7) / 8 * 8; }

// A group of variants, and a value for each pair of its patterns, with one row per pattern.
struct PatternPairs {
  PatternPairs() = default;
  explicit PatternPairs(const CallPatterns& of)
      : patterns(&of), numbers(pattern_stride(of.count) * static_cast<std::size_t>(of.count)) {}

  const CallPatterns* patterns = nullptr;
  std::vector<double> numbers;
};

// One row of a stripe for each pattern of a group.
struct PatternTable {
  alignas(64) double rows[256][kStripeColumns];
};
using PatternTables = std::array<PatternTable, kGroupsAtOnce>;

// For a stripe that begins at sample `first`, and i in [first, n): stripe[i * kStripeColumns + c]
// += the value for the patterns of samples first + c and i, over all `groups`.
void add_pairs(const PatternPairs* groups, std::size_t count, std::int64_t first, std::int64_t n,
               SimdLevel simd, PatternTables& tables, double* stripe);

// The reverse: the value for the patterns of samples first + c and i += stripe[i * kStripeColumns +
// c].
void sum_pairs(const double* stripe, std::int64_t first, std::int64_t n, SimdLevel simd,
               PatternTables& tables, PatternPairs* groups, std::size_t count);

// Adds factor a a' to the values of pairs. `values`: a, zero-padded to pattern_stride().
void add_outer(const double* values, double factor, SimdLevel simd, PatternPairs& group);

// a'Ma, with M the values of pairs.
double form(const PatternPairs& group, const double* values, SimdLevel simd);

}  // namespace ancify
