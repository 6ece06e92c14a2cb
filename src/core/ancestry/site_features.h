// What the boosted trees look at: features of a position and what lies around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/site_patterns.h"
#include "core/io/bases.h"

namespace ancify {

// Bases to each side of a position that its features depend on.
constexpr std::int64_t kFeatureReach = 50;

// Positions [start, end) of a chromosome, and sequences that hold at least kFeatureReach positions
// more on each side, where the chromosome has them: species[s] points to position `first`.
struct Stretch {
  std::int64_t chromosome_length = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t first = 0;  // a multiple of kPackedGroup if packed
  const char* const* species = nullptr;
  SequenceForm form = SequenceForm::kCharacters;

  std::size_t size() const { return static_cast<std::size_t>(end - start); }
};

// All there is of sequences of n positions.
inline Stretch whole_stretch(const char* const* species, SequenceForm form, std::size_t n) {
  const auto end = static_cast<std::int64_t>(n);
  return {end, 0, end, 0, species, form};
}

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
