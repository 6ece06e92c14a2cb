// Operations with one or two databases, by one merge of both.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/kmers/sorted_parts.h"

namespace ancify {

enum class KmerCountRule { kSum, kLeast, kMost, kFirst, kSecond, kDifference };
enum class KmerOperation { kUnion, kIntersect, kSubtract };

// A database of the k-mers of both (kUnion, kIntersect), or of `one` (kSubtract). `rule` gives the
// count of a k-mer that is in both; kSubtract leaves these out, or with kDifference those alone
// whose difference is not above 0. Both databases must have the settings' k and strands. k-mers
// with other counts than the settings want are left out.
KmerDatabase combine(const KmerDatabase& one, const KmerDatabase& other, KmerOperation operation,
                     KmerCountRule rule, const KmerSettings& settings, const KmerWork& work,
                     JobControl& control);

// The k-mers of a database whose counts the settings want.
KmerDatabase filter(const KmerDatabase& database, const KmerSettings& settings,
                    const KmerWork& work, JobControl& control);

// How many k-mers have a count, for each count that there is, in order.
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
