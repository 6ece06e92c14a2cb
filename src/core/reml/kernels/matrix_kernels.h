// Kernels given as dense matrices or by their products, and combined kernels.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/exec/job_control.h"
#include "core/reml/kernels/kernels.h"

namespace ancify::reml {

// Symmetric n x n matrices. They and `control` must outlive this. One pass multiplies all of them.
class MatrixKernels : public Kernels {
 public:
  MatrixKernels(std::int64_t n, std::vector<const double*> matrices, JobControl& control);

  std::int64_t samples() const override { return n_; }
  int components() const override { return static_cast<int>(matrices_.size()); }
  double mean_diagonal(int component) const override;
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  std::vector<double> diagonal(int component) override;
  double passes() const override { return passes_; }

 private:
  const double* matrix(int component) const {
    return matrices_[static_cast<std::size_t>(component)];
  }

  std::int64_t n_;
  std::vector<const double*> matrices_;
  JobControl& control_;
  double passes_ = 0;
};

// out = K v, of n x columns.
using KernelProduct = std::function<void(const double* v, int columns, double* out)>;

// Builds a dense n x n kernel from its products with unit vectors, several at a time.
void for_unit_columns(std::int64_t n, double* out, const KernelProduct& multiply);

// One kernel, given by its products and its trace. Each product is a pass.
class ProductKernel : public Kernels {
 public:
  ProductKernel(std::int64_t n, KernelProduct product, double trace, JobControl& control);

  std::int64_t samples() const override { return n_; }
  int components() const override { return 1; }
  double mean_diagonal(int component) const override;
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  double passes() const override { return passes_; }

 private:
  void multiply(const double* v, int columns, double* out);

  std::int64_t n_;
  KernelProduct product_;
  double trace_;
  JobControl& control_;
  double passes_ = 0;
};

// The components of all parts, in order. All parts must share their samples.
std::unique_ptr<Kernels> join_kernels(std::vector<std::unique_ptr<Kernels>> parts);

}  // namespace ancify::reml
