// The two-locus statistics, as sums of products with one factor per population.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace ancify {

// Quantities estimated in one population: products of D, of z = 1 - 2p at the left and of w = 1 -
// 2q at the right site.
enum LdMoment : std::size_t {
  kMeanZ,
  kMeanW,
  kZW,
  kZZ,
  kWW,
  kZZW,
  kZWW,
  kZZWW,
  kD,
  kDZ,
  kDW,
  kDZW,
  kDD,
  kLdMoments
};

struct LdFactor {
  std::size_t population;
  LdMoment moment;
  bool operator==(const LdFactor& other) const {
    return population == other.population && moment == other.moment;
  }
};

// A product of at most four factors; 1 without any.
using LdTerm = std::vector<LdFactor>;

struct LdStatistics {
  std::vector<LdTerm> terms;  // each once
  // For each statistic: indices of terms and their coefficients.
  std::vector<std::vector<std::pair<std::size_t, double>>> sums;
};

// Statistics of n populations, in this order: DD_ij, i <= j; Dz_i,jk, j <= k; pi2_ij,kl, i <= j, k
// <= l, ij <= kl. Pairs are ordered by their first, then by their second index.
LdStatistics ld_statistics(std::size_t n);

}  // namespace ancify
