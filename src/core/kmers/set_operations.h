// Operations with one or two databases, by one merge of both.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/kmers/sorted_parts.h"

namespace ancify {

enum class KmerCountRule { kSum, kLeast, kMost, kFirst, kSecond, kDifference };
enum class KmerOperation { kUnion, kIntersect, kSubtract };

// A database of the k-mers of either (kUnion), of both (kIntersect) or of `one` (kSubtract). `rule`
// gives the count of a k-mer in both. kSubtract drops such k-mers; with kDifference only if the
// difference is not positive. Both databases must have the settings' k and strands. k-mers with
// counts outside the settings' limits are dropped.
KmerDatabase combine(const KmerDatabase& one, const KmerDatabase& other, KmerOperation operation,
                     KmerCountRule rule, const KmerSettings& settings, const KmerWork& work,
                     JobControl& control);

// The k-mers of a database whose counts are within the settings' limits.
KmerDatabase filter(const KmerDatabase& database, const KmerSettings& settings,
                    const KmerWork& work, JobControl& control);

// The number of k-mers with each occurring count, in order of counts.
std::vector<std::pair<std::uint32_t, std::uint64_t>> histogram(const KmerDatabase& database,
                                                               const TaskContext& context);

// Sums over the k-mers of two databases.
struct KmerComparison {
  double one = 0;  // k-mers of each
  double other = 0;
  double shared = 0;
  double least = 0;    // the sum of the smaller counts
  double total = 0;    // the sum of all counts
  double product = 0;  // the sum of products of counts
  double square_one = 0;
  double square_other = 0;
};
KmerComparison compare(const KmerDatabase& one, const KmerDatabase& other,
                       const TaskContext& context);

}  // namespace ancify
