// Projection of allele counts: P(k derived of n drawn) = C(d, k) C(c - d, n - k) / C(c, n) for d
// derived of c called haplotypes (Marth and others 2004, Genetics 166:351).
#include "core/spectra/hypergeometric.h"

#include <algorithm>
#include <numeric>

namespace ancify {

namespace {

int fewest_derived(AlleleCount count, int size) {
  return std::max(0, size - (count.called - count.derived));
}

int most_derived(AlleleCount count, int size) { return std::min(size, count.derived); }

}  // namespace

std::size_t projected_numbers(AlleleCount count, int size) {
  return static_cast<std::size_t>(most_derived(count, size) - fewest_derived(count, size)) + 1;
}

ProjectionWeights project_count(AlleleCount count, int size, double* workspace) {
  const int first = fewest_derived(count, size);
  const int last = most_derived(count, size);
  const double n = size;
  const double derived = count.derived;
  const double called = count.called;
  // The recursion starts at the most probable k and multiplies by the ratios of neighbours. Nothing
  // overflows, and only negligible values underflow.
  const auto mode =
      std::clamp(static_cast<int>((n + 1) * (derived + 1) / (called + 2)), first, last);
  const auto at = [&](int k) -> double& { return workspace[k - first]; };
  at(mode) = 1;
  for (int k = mode; k < last; ++k) {
    at(k + 1) = at(k) * ((n - k) * (derived - k)) / ((k + 1.0) * (called - n - derived + k + 1));
  }
  for (int k = mode; k > first; --k) {
    at(k - 1) = at(k) * (k * (called - n - derived + k)) / ((n - k + 1) * (derived - k + 1));
  }
  const std::size_t numbers = projected_numbers(count, size);
  const double sum = std::accumulate(workspace, workspace + numbers, 0.0);
  for (std::size_t i = 0; i < numbers; ++i) workspace[i] /= sum;
  return {first, numbers, workspace};
}

ProjectionCache::ProjectionCache(const std::vector<AlleleCount>& counts, int size,
                                 std::size_t most_remembered)
    : counts_(counts), size_(size) {
  std::size_t all = 0;
  for (const auto& count : counts_) {
    starts_.push_back(all);
    all += projected_numbers(count, size_);
  }
  if (all > most_remembered) return;
  values_.resize(all);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    project_count(counts_[i], size_, &values_[starts_[i]]);
  }
}

ProjectionWeights ProjectionCache::weights(std::size_t index, double* workspace) const {
  const AlleleCount count = counts_[index];
  if (values_.empty()) return project_count(count, size_, workspace);
  return {fewest_derived(count, size_), projected_numbers(count, size_), &values_[starts_[index]]};
}

}  // namespace ancify
