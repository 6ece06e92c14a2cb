// Random vectors whose mean of z'Az estimates the trace of A.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reml/fixed_effects.h"
#include "core/reml/tall_blocks.h"

namespace ancify::reml {

// Numbers +1 and -1 in n x columns, columns `first`, `first` + 1, ... of a stream of columns. Each
// is a function of seed, column and row alone.
void fill_signs(const Workers& workers, std::uint64_t seed, std::uint64_t first, std::int64_t n,
                int columns, double* out);

// Numbered probes on the complement of the fixed effects.
class Probes {
 public:
  // Random signs.
  Probes(const FixedEffects& fixed, std::uint64_t seed) : fixed_(fixed), seed_(seed) {}
  // The columns of a matrix with n rows. InputError for one that the fixed effects explain.
  Probes(const FixedEffects& fixed, std::vector<double> matrix, const Workers& workers);

  // How many there are at most; 0 if there is no end.
  int most() const {
    return static_cast<int>(static_cast<std::int64_t>(matrix_.size()) / fixed_.samples());
  }
  // Whether the mean over all of them is the trace itself.
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
