// The features of boosted trees: of a position and of the positions around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/patterns/site_patterns.h"
#include "core/genome/bases.h"
#include "core/genome/stretch.h"

namespace ancify {

// Positions on each side of a position that its features depend on.
constexpr std::int64_t kFeatureReach = 50;

ANCIFY_HOST_DEVICE constexpr bool is_gc(int code) { return code == 1 || code == 2; }

// True if a base is the C or the G of a CG.
ANCIFY_HOST_DEVICE constexpr bool is_in_cpg(int before, int code, int after) {
  return (code == 1 && after == 2) || (code == 2 && before == 1);
}

// a / b, or 0 if b is 0. For small whole numbers the quotient in float and the one in double,
// rounded to float, are equal.
ANCIFY_HOST_DEVICE inline float share(int a, int b) {
  return b > 0 ? static_cast<float>(a) / static_cast<float>(b) : 0.0F;
}

// Positions on each side whose GC content is a feature: kFeatureReach, or fewer on a short
// chromosome.
ANCIFY_HOST_DEVICE constexpr std::int64_t gc_reach(std::int64_t chromosome_length) {
  const std::int64_t half = (chromosome_length - 1) / 2;
  return half < kFeatureReach ? half : kFeatureReach;
}

// The features in order. First each species' base (0 to 3, -1 missing; inner species first). Then
// the number of species with a base, the share of the most frequent base among them, the inner and
// the outer consensus (0 to 4), and whether these agree. Last, by the consensus of all species: the
// GC content around the position, whether it is in a CG, the base before and the base after (0 to
// 4; 4 beyond the ends).
class SiteFeatures {
 public:
  SiteFeatures(int n_inner, int n_outer) : n_inner_(n_inner), n_outer_(n_outer) {}
  int count() const { return species() + 9; }
  int species() const { return n_inner_ + n_outer_; }
  int inner() const { return n_inner_; }
  // Writes feature f of position start + i to out[f * stretch.size() + i]. The stretch must hold
  // kFeatureReach positions on each side.
  void compute(const Stretch& stretch, float* out) const;

 private:
  int n_inner_;
  int n_outer_;
};

}  // namespace ancify
