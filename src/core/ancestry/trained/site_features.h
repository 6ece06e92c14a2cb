// What the boosted trees look at: features of a position and what lies around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/patterns/site_patterns.h"
#include "core/genome/bases.h"
#include "core/genome/stretch.h"

namespace ancify {

// Bases to each side of a position that its features depend on.
constexpr std::int64_t kFeatureReach = 50;

ANCIFY_HOST_DEVICE constexpr bool is_gc(int code) { return code == 1 || code == 2; }

// Whether it is the C or the G of a CG.
ANCIFY_HOST_DEVICE constexpr bool is_in_cpg(int before, int code, int after) {
  return (code == 1 && after == 2) || (code == 2 && before == 1);
}

// a / b, or 0 without data. (The quotient of small whole numbers is the same float by way of
// doubles.)
ANCIFY_HOST_DEVICE inline float share(int a, int b) {
  return b > 0 ? static_cast<float>(a) / static_cast<float>(b) : 0.0F;
}

// Of the positions around one those to each side that the share of G and C is of.
ANCIFY_HOST_DEVICE constexpr std::int64_t gc_reach(std::int64_t chromosome_length) {
  const std::int64_t half = (chromosome_length - 1) / 2;
  return half < kFeatureReach ? half : kFeatureReach;
}

// The features in their order: each species' base (0 to 3, -1 missing; inner ones first), how many
// have data, the share of the most frequent base among them, the inner, the outer consensus (0 to
// 4), whether they agree; and of the consensus of all: the share of G and C around, whether this is
// the C or the G of a CG, the base before, the base after (0 to 4, 4 beyond the ends).
class SiteFeatures {
 public:
  SiteFeatures(int n_inner, int n_outer) : n_inner_(n_inner), n_outer_(n_outer) {}
  int count() const { return species() + 9; }
  int species() const { return n_inner_ + n_outer_; }
  int inner() const { return n_inner_; }
  // Feature f of position start + i becomes out[f * stretch.size() + i].
  void compute(const Stretch& stretch, float* out) const;

 private:
  int n_inner_;
  int n_outer_;
};

}  // namespace ancify
