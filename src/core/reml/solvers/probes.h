// Random vectors whose mean of z'Az estimates the trace of A.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reml/fit/fixed_effects.h"
#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

// Fills n x columns with signs +1 and -1: columns `first`, `first` + 1, ... of a stream. Each sign
// is a function of seed, column and row alone.
void fill_signs(const Workers& workers, std::uint64_t seed, std::uint64_t first, std::int64_t n,
                int columns, double* out);

// Numbered probes on the complement of the fixed effects.
class Probes {
 public:
  // Random signs.
  Probes(const FixedEffects& fixed, std::uint64_t seed) : fixed_(fixed), seed_(seed) {}
  // The columns of a matrix with n rows that the fixed effects do not explain, scaled to be exact
  // if possible. InputError for a column of zeros, or if none remains.
  Probes(const FixedEffects& fixed, std::vector<double> matrix, const Workers& workers);

  // The largest number of probes; 0 if unlimited.
  int most() const {
    return static_cast<int>(static_cast<std::int64_t>(matrix_.size()) / fixed_.samples());
  }
  // True if the mean over all probes is the exact trace.
  bool exact() const { return exact_; }
  // Probes `first`, `first` + 1, ..., n x columns.
  void fill(const Workers& workers, int first, int columns, double* out) const;

 private:
  const FixedEffects& fixed_;
  std::uint64_t seed_ = 0;
  std::vector<double> matrix_;
  bool exact_ = false;
};

}  // namespace ancify::reml
