// Indexes samples of lineages.
#include "core/two_locus/samples.h"

#include <utility>

namespace ancify::two_locus {

namespace {

// The index of a pair in the order 0 0, 0 1, ..., 1 1, ..., of indices below n.
std::size_t ordered_pair(std::size_t i, std::size_t j, std::size_t n) {
  if (i > j) std::swap(i, j);
  return i * n - i * (i + 1) / 2 + j;
}

}  // namespace

Samples::Samples(int populations) : populations_(populations) {
  constexpr unsigned kLeft = Lineage::kLeft;
  constexpr unsigned kRight = Lineage::kRight;
  constexpr unsigned kBoth = Lineage::kBoth;
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < populations; ++i) {
    for (int j = i; j < populations; ++j) pairs.emplace_back(i, j);
  }
  all_.emplace_back();
  for (const auto& [i, j] : pairs) all_.push_back({{i, kLeft}, {j, kLeft}});
  for (const auto& [i, j] : pairs) all_.push_back({{i, kBoth}, {j, kBoth}});
  for (int i = 0; i < populations; ++i) {
    for (const auto& [j, k] : pairs) all_.push_back({{i, kBoth}, {j, kLeft}, {k, kRight}});
  }
  for (std::size_t left = 0; left < pairs.size(); ++left) {
    for (std::size_t right = left; right < pairs.size(); ++right) {
      all_.push_back({{pairs[left].first, kLeft},
                      {pairs[left].second, kLeft},
                      {pairs[right].first, kRight},
                      {pairs[right].second, kRight}});
    }
  }
}

std::size_t Samples::pairs() const {
  const auto n = static_cast<std::size_t>(populations_);
  return n * (n + 1) / 2;
}

std::size_t Samples::pair(int i, int j) const {
  return ordered_pair(static_cast<std::size_t>(i), static_cast<std::size_t>(j),
                      static_cast<std::size_t>(populations_));
}

std::size_t Samples::three_haplotypes(int i, int j, int k) const {
  return 1 + (2 + static_cast<std::size_t>(i)) * pairs() + pair(j, k);
}

std::size_t Samples::four_haplotypes(int i, int j, int k, int l) const {
  return 1 + (2 + static_cast<std::size_t>(populations_)) * pairs() +
         ordered_pair(pair(i, j), pair(k, l), pairs());
}

std::size_t Samples::index(const Sample& sample) const {
  int both[2] = {};
  int left[2] = {};
  int right[2] = {};
  int haplotypes = 0;
  int at_left = 0;
  int at_right = 0;
  for (const auto& lineage : sample) {
    if (lineage.loci == Lineage::kBoth) both[haplotypes++] = lineage.population;
    if (lineage.loci == Lineage::kLeft) left[at_left++] = lineage.population;
    if (lineage.loci == Lineage::kRight) right[at_right++] = lineage.population;
  }
  if (sample.empty()) return 0;
  if (haplotypes == 2) return two_haplotypes(both[0], both[1]);
  if (haplotypes == 1) return three_haplotypes(both[0], left[0], right[0]);
  if (at_right == 0) return one_locus(left[0], left[1]);
  if (at_left == 0) return one_locus(right[0], right[1]);
  return four_haplotypes(left[0], left[1], right[0], right[1]);
}

}  // namespace ancify::two_locus
