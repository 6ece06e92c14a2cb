// The covariance components of whitened traits, as the kernels of one long response.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/reml/kernels/kernels.h"
#include "core/reml/trait_probes/trait_values.h"

namespace ancify::reml {

// Kernels T (B_i x K_g) T', with a matrix B_i = u u' for each pair of traits: u = e_a for a trait
// alone, and u = e_a + e_b for two, so that no kernel has a negative eigenvalue. The residual's,
// with K = I, come last. Parameters theta are packed covariances; `weights` are the coefficients
// of these kernels.
class TraitKernels : public Kernels {
 public:
  // Takes a pass for the diagonals of `kernels`, if samples lack traits. All must outlive this.
  TraitKernels(const TraitValues& values, Kernels& kernels, const Workers& workers);

  std::int64_t samples() const override { return values_.size(); }
  int components() const override { return static_cast<int>(parts() * pairs_.size()); }
  double mean_diagonal(int component) const override;
  void times(const double* weights, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  double passes() const override { return kernels_.passes(); }

  // Components, with the residual.
  std::size_t parts() const { return static_cast<std::size_t>(kernels_.components()) + 1; }
  const std::vector<TraitPair>& pairs() const { return pairs_; }
  // The mean diagonal of K_g.
  double mean(std::size_t part) const { return means_[part]; }
  // The weights of theta's covariances, followed by 0 for an identity.
  std::vector<double> weights_of(const std::vector<double>& theta) const;
  // Forms by the derivatives of the covariance by theta, from those by kernel: `columns` each.
  std::vector<double> by_covariance(const double* forms, int columns) const;
  // A_i v for the derivative A_i by each of theta, N x k.
  std::vector<double> derivatives_times(const double* v);
  // v'A_i w for each i, where I times the mean eigenvalue stands for each K_g. Element i * columns
  // + c belongs to column c.
  std::vector<double> mean_forms(const double* v, const double* w, int columns) const;
  // tr(H A_i), with A_i likewise, and H at theta.
  std::vector<double> mean_traces(const std::vector<double>& theta) const;

 private:
  // For each of theta, g's mean diagonal times the entry of a t x t form that it multiplies.
  void add_mean_forms(const std::vector<double>& form, std::size_t stride, double* out) const;
  std::vector<double> covariance(const double* weights, std::size_t part) const;

  const TraitValues& values_;
  Kernels& kernels_;
  Workers workers_;
  std::vector<TraitPair> pairs_;
  std::vector<std::vector<double>> sums_;  // of each diagonal by pattern; the residual's: counts
  std::vector<double> means_;              // of each diagonal
};

}  // namespace ancify::reml
