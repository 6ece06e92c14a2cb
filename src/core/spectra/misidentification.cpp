// Expected misidentified sites: sum over sites of 1 - p, with variance sum of p (1 - p), where p is
// the posterior of the allele taken for ancestral.
#include "core/spectra/misidentification.h"

namespace ancify {

Misidentification::Misidentification(std::size_t populations, std::size_t kinds)
    : populations_(populations),
      kinds_(kinds),
      combinations_(populations + 1),
      words_(populations + 1) {}

void Misidentification::add(const AlleleCount* counts, double posterior, std::size_t kind) {
  std::int64_t called = 0;
  std::int64_t derived = 0;
  for (std::size_t k = 0; k < populations_; ++k) {
    called += counts[k].called;
    derived += counts[k].derived;
    words_[k] = static_cast<std::uint64_t>(counts[k].called);
  }
  if (derived == 0 || derived == called) return;
  words_.back() = kind;
  const std::size_t number = combinations_.number(words_.data());
  if (number == sums_.size()) sums_.emplace_back();
  Sums& sums = sums_[number];
  ++sums.sites;
  sums.errors += 1 - posterior;
  sums.variance += posterior * (1 - posterior);
}

std::vector<Misidentification::Sums> Misidentification::of_sizes(
    const std::vector<int>& sizes) const {
  std::vector<Sums> result(kinds_);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const std::uint64_t* const words = combinations_.tuple(i);
    bool enough = true;
    for (std::size_t k = 0; k < populations_; ++k) {
      enough = enough && words[k] >= static_cast<std::uint64_t>(sizes[k]);
    }
    if (!enough) continue;
    Sums& sums = result[words[populations_]];
    sums.sites += sums_[i].sites;
    sums.errors += sums_[i].errors;
    sums.variance += sums_[i].variance;
  }
  return result;
}

}  // namespace ancify
