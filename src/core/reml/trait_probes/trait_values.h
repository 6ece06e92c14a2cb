// The values of traits as one long column, whitened by sample: a sample's values y become T y,
// where T^-1 T'^-1 is the traits' covariance D. So conjugate gradients and probes see a covariance
// of about I, whichever traits a sample lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/reml/linear_algebra/tall_blocks.h"
#include "core/reml/multivariate/trait_model.h"

namespace ancify::reml {

// N values of t traits and n samples. Columns, of length N, have the values of the first trait
// first. Spread columns, n x t each, have a row for each sample, and 0 for missing traits.
class TraitValues {
 public:
  // `covariance`: D, t x t, positive definite.
  TraitValues(const std::vector<Trait>& traits, std::int64_t samples,
              const std::vector<double>& covariance, const Workers& workers);

  std::int64_t samples() const { return samples_; }
  std::size_t traits() const { return traits_; }
  std::int64_t size() const { return static_cast<std::int64_t>(row_of_.size()); }

  // T'v, spread, of columns v.
  std::vector<double> spread(const double* v, int columns) const;
  // T w of spread columns w.
  void gather(const double* w, int columns, double* out) const;
  // T v of plain columns v.
  void whiten(double* v, int columns) const;
  // log|T|.
  double log_determinant() const;

  // The sets of traits that samples have.
  std::size_t patterns() const { return whitening_.size(); }
  std::size_t pattern_of(std::size_t sample) const { return pattern_of_[sample]; }
  // T, t x t, with rows and columns of 0 for missing traits.
  const std::vector<double>& whitening(std::size_t pattern) const { return whitening_[pattern]; }

 private:
  // Calls use(s, whitening, a, at) for each value, the one of trait a in sample s, on the threads.
  template <class Use>
  void for_each_value(const Use& use) const;

  Workers workers_;
  std::int64_t samples_;
  std::size_t traits_;
  std::vector<std::int64_t> index_;      // of a trait's sample among the values, or -1; n x t
  std::vector<std::int64_t> row_of_;     // the sample of each value
  std::vector<std::size_t> pattern_of_;  // of each sample
  std::vector<std::vector<double>> whitening_;
};

}  // namespace ancify::reml
