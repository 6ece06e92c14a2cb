// Kernels by ancestry: K_a = D_a K D_a with D_a = diag(sqrt q_a), for shares q_a of each sample.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reml/kernels/kernels.h"

namespace ancify::reml {

class AdmixtureKernels : public Kernels {
 public:
  // `kernel` has one component. `diagonal`: its diagonal. `shares`: n x ancestries, between 0 and
  // 1. `kernel` must outlive this.
  AdmixtureKernels(Kernels& kernel, const std::vector<double>& diagonal,
                   const std::vector<double>& shares);

  std::int64_t samples() const override { return kernel_.samples(); }
  int components() const override { return static_cast<int>(mean_diagonals_.size()); }
  double mean_diagonal(int component) const override {
    return mean_diagonals_[static_cast<std::size_t>(component)];
  }
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  double passes() const override { return kernel_.passes(); }

 private:
  // sqrt q_a of all samples.
  const double* roots(int component) const { return roots_.data() + component * samples(); }
  // D_a V of some ancestries, side by side.
  std::vector<double> scaled(const std::vector<int>& ancestries, const double* v,
                             int columns) const;

  Kernels& kernel_;
  std::vector<double> roots_;
  std::vector<double> mean_diagonals_;
};

}  // namespace ancify::reml
