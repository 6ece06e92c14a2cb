// Kernels D K D, with a diagonal matrix D of scales by sample.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/reml/kernels/kernels.h"

namespace ancify::reml {

// Which diagonal D K D has: its own, or its mean in every place. With an even diagonal and residual
// I, moments of a kernel depend only on pairs of different samples.
enum class ScaledDiagonal { kOwn, kEven };

class ScaledKernels : public Kernels {
 public:
  // Takes a pass over the genotypes, for diagonals. InputError if scales and samples differ in
  // number.
  ScaledKernels(std::unique_ptr<Kernels> kernels, std::vector<double> scales,
                ScaledDiagonal diagonal);

  std::int64_t samples() const override { return kernels_->samples(); }
  int components() const override { return kernels_->components(); }
  double mean_diagonal(int component) const override;
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  std::vector<double> diagonal(int component) override;
  double passes() const override { return kernels_->passes(); }

 private:
  std::vector<double> scaled(const double* v, int columns) const;
  const std::vector<double>& added(int component) const {
    return added_[static_cast<std::size_t>(component)];
  }

  std::unique_ptr<Kernels> kernels_;
  std::vector<double> scales_;
  std::vector<double> mean_diagonals_;
  std::vector<std::vector<double>> added_;  // to the diagonal of each D K D; empty for its own
};

}  // namespace ancify::reml
