// Kernels of which only the blocks within groups of samples remain: sum_l D_l K D_l, where D_l is 1
// for samples of group l.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/reml/kernels/kernels.h"

namespace ancify::reml {

class BlockKernels final : public Kernels {
 public:
  // `groups`: of each sample, from 0. Products with K have the columns of several groups, up to
  // `columns_at_once`. InputError if `groups` has another size.
  BlockKernels(std::unique_ptr<Kernels> kernels, std::vector<std::int32_t> groups,
               int columns_at_once = 128);

  std::int64_t samples() const override { return kernels_->samples(); }
  int components() const override { return kernels_->components(); }
  double mean_diagonal(int component) const override { return kernels_->mean_diagonal(component); }
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  std::vector<double> diagonal(int component) override { return kernels_->diagonal(component); }
  double passes() const override { return kernels_->passes(); }

 private:
  // Groups that a product takes together.
  std::int32_t groups_at_once(int columns) const;
  // D_l v of the groups [first, end), side by side.
  std::vector<double> divided(std::int32_t first, std::int32_t end, const double* v,
                              int columns) const;

  std::unique_ptr<Kernels> kernels_;
  std::vector<std::int32_t> groups_;
  std::int32_t n_groups_ = 0;
  int columns_at_once_;
};

}  // namespace ancify::reml
