// Let z = 1 - 2p at the left site and w = 1 - 2q at the right one. The means over the orders of
// populations in a pair, and over both orders of the sites, are
//
//   DD_ij     = D_i D_j
//   Dz_i,jk   = D_i (z_j w_k + z_k w_j) / 2
//   pi2_ij,kl = ((1 - z_i z_j)(1 - w_k w_l) + (1 - z_k z_l)(1 - w_i w_j)) / 32,
//
// as the mean of p_i (1 - p_j) and p_j (1 - p_i) is (1 - z_i z_j) / 4. Statistics: Ragsdale and
// Gravel (2019) PLoS Genetics 15:e1008204.
#include "core/ld/statistics.h"

#include <algorithm>

namespace ancify {

namespace {

using Populations = std::vector<std::size_t>;
using PopulationPair = std::array<std::size_t, 2>;

// The moment with these powers of D, z and w, limited to the powers that statistics contain.
LdMoment moment_of(std::ptrdiff_t d, std::ptrdiff_t z, std::ptrdiff_t w) {
  constexpr std::array<LdMoment, 9> without_d = {kLdMoments, kMeanW, kWW,  kMeanZ, kZW,
                                                 kZWW,       kZZ,    kZZW, kZZWW};
  constexpr std::array<LdMoment, 4> with_d = {kD, kDW, kDZ, kDZW};
  if (d == 2) return kDD;
  return d == 1 ? with_d[static_cast<std::size_t>(2 * z + w)]
                : without_d[static_cast<std::size_t>(3 * z + w)];
}

class Statistics {
 public:
  explicit Statistics(std::size_t n) : n_(n) {}

  void begin() { found_.sums.emplace_back(); }

  // Adds to the last statistic a product of these populations' D, z and w.
  void add(double coefficient, const Populations& d, const Populations& z, const Populations& w) {
    LdTerm term;
    for (std::size_t i = 0; i < n_; ++i) {
      const auto power = [i](const Populations& of) { return std::count(of.begin(), of.end(), i); };
      if (power(d) + power(z) + power(w) == 0) continue;
      term.push_back({i, moment_of(power(d), power(z), power(w))});
    }
    found_.sums.back().emplace_back(number_of(term), coefficient);
  }

  LdStatistics take() { return std::move(found_); }

 private:
  std::size_t number_of(const LdTerm& term) {
    auto& terms = found_.terms;
    const auto at = std::find(terms.begin(), terms.end(), term);
    const auto number = static_cast<std::size_t>(at - terms.begin());
    if (at == terms.end()) terms.push_back(term);
    return number;
  }

  std::size_t n_;
  LdStatistics found_;
};

std::vector<PopulationPair> ordered_pairs(std::size_t n) {
  std::vector<PopulationPair> pairs;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) pairs.push_back({i, j});
  }
  return pairs;
}

void add_pi2(Statistics& statistics, const PopulationPair& left, const PopulationPair& right) {
  constexpr double share = 1.0 / 32;
  const Populations z = {left[0], left[1]};
  const Populations w = {right[0], right[1]};
  statistics.add(share, {}, {}, {});
  statistics.add(-share, {}, z, {});
  statistics.add(-share, {}, {}, w);
  statistics.add(share, {}, z, w);
}

}  // namespace

LdStatistics ld_statistics(std::size_t n) {
  Statistics statistics(n);
  const std::vector<PopulationPair> pairs = ordered_pairs(n);
  for (const auto& [i, j] : pairs) {
    statistics.begin();
    statistics.add(1, {i, j}, {}, {});
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& [j, k] : pairs) {
      statistics.begin();
      statistics.add(0.5, {i}, {j}, {k});
      statistics.add(0.5, {i}, {k}, {j});
    }
  }
  for (std::size_t first = 0; first < pairs.size(); ++first) {
    for (std::size_t second = first; second < pairs.size(); ++second) {
      statistics.begin();
      add_pi2(statistics, pairs[first], pairs[second]);
      add_pi2(statistics, pairs[second], pairs[first]);
    }
  }
  return statistics.take();
}

}  // namespace ancify
