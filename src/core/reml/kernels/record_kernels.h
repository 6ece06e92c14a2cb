// Kernels of records, of which an individual may have several: Z K Z', with a 1 in each row of Z.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/reml/kernels/kernels.h"

namespace ancify::reml {

class RecordKernels final : public Kernels {
 public:
  // `individuals`: of each record, from 0; InputError for one that the kernels lack. Takes a pass
  // over the genotypes for each component, for diagonals.
  RecordKernels(std::unique_ptr<Kernels> kernels, std::vector<std::int32_t> individuals);

  std::int64_t samples() const override { return static_cast<std::int64_t>(individuals_.size()); }
  int components() const override { return kernels_->components(); }
  double mean_diagonal(int component) const override {
    return mean_diagonals_[static_cast<std::size_t>(component)];
  }
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  std::vector<double> diagonal(int component) override;
  double passes() const override { return kernels_->passes(); }

 private:
  // Z'v.
  std::vector<double> sums(const double* v, int columns) const;

  std::unique_ptr<Kernels> kernels_;
  std::vector<std::int32_t> individuals_;
  std::vector<double> mean_diagonals_;
};

}  // namespace ancify::reml
