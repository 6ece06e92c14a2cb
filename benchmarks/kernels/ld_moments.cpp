// Estimates the moments of 40 batches of pairs of sites, and sums products of them.
#include <memory>
#include <random>

#include "core/ld/pair_moments.h"
#include "kernel.h"
#include "level.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  struct Case {
    UnitRows sums;
    MomentRows moments;
    double total = 0;
  };
  const auto one = std::make_shared<Case>();
  std::mt19937 random(3);
  for (BatchRow& row : one->sums) {
    for (double& sum : row) sum = 20 + static_cast<double>(random() % 50);
  }
  return [one, level = kernel_level()] {
    const MomentRows& m = one->moments;
    for (int batch = 0; batch < 40; ++batch) {
      estimate_moments(one->sums, kBatchPairs, UnitKind::kHaplotypes, level, one->moments);
      for (std::size_t k = 0; k + 3 < m.size(); ++k) {
        const std::array<const BatchRow*, 4> factors = {&m[k], &m[k + 1], &m[k + 2], &m[k + 3]};
        for (std::size_t n = 1; n <= 4; ++n) {
          one->total += sum_products(factors, n, kBatchPairs, level);
        }
      }
    }
  };
}

}  // namespace ancify::bench
