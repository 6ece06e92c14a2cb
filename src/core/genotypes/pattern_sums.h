// Sums over pairs of samples by their patterns, for each level of vector instructions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/device/simd.h"
#include "core/genotypes/call_patterns.h"

namespace ancify {

// Columns of an n x n matrix that are worked on together.
constexpr std::int64_t kStripeColumns = 16;
// Groups of variants whose tables are used together.
constexpr std::size_t kGroupsAtOnce = 8;

// Numbers of a row for each pattern: zeros follow them, so that loops need no ends.
inline std::size_t pattern_stride(int count) { return static_cast<std::size_t>(count + 7) / 8 * 8; }

// A group of variants, and a number for each pair of its patterns, a row for each.
struct PatternPairs {
  PatternPairs() = default;
  explicit PatternPairs(const CallPatterns& of)
      : patterns(&of), numbers(pattern_stride(of.count) * static_cast<std::size_t>(of.count)) {}

  const CallPatterns* patterns = nullptr;
  std::vector<double> numbers;
};

// For each pattern of a group a row of a stripe.
struct PatternTable {
  alignas(64) double rows[256][kStripeColumns];
};
using PatternTables = std::array<PatternTable, kGroupsAtOnce>;

// Of a stripe that begins at sample `first`: stripe[i * kStripeColumns + c] += the number of the
// patterns of samples first + c and i, of each of `groups`, for i in [first, n).
void add_pairs(const PatternPairs* groups, std::size_t count, std::int64_t first, std::int64_t n,
               SimdLevel simd, PatternTables& tables, double* stripe);

// The reverse: the number of the patterns of samples first + c and i += stripe[i * kStripeColumns +
// c].
void sum_pairs(const double* stripe, std::int64_t first, std::int64_t n, SimdLevel simd,
               PatternTables& tables, PatternPairs* groups, std::size_t count);

// Adds factor a a' to the numbers. `values`: a, with zeros up to pattern_stride().
void add_outer(const double* values, double factor, SimdLevel simd, PatternPairs& group);

// a'Ma of the numbers M.
double form(const PatternPairs& group, const double* values, SimdLevel simd);

}  // namespace ancify
