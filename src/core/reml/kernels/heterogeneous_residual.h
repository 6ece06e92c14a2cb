// Heterogeneous residual variance: sum_a theta_a diag(q_a) of shares q that sum to 1, as I and
// kernels diag(q_a).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/kernels/kernels.h"

namespace ancify::reml {

// Converts variances, scores and information by component to and from a model with residual I. The
// last kernels of this model are diag(q_a) for all but the last of `residuals`. With one residual
// nothing changes.
class HeterogeneousResidual {
 public:
  explicit HeterogeneousResidual(int residuals) : more_(static_cast<std::size_t>(residuals - 1)) {}

  // Variances of the model with residual I, and back.
  std::vector<double> with_identity(std::vector<double> theta) const;
  std::vector<double> by_share(std::vector<double> of_model) const;
  // Converts a vector or matrix of derivatives from the model with residual I.
  std::vector<double> slopes(std::vector<double> of_model) const;
  std::vector<double> curvatures(std::vector<double> of_model, std::size_t components) const;

 private:
  // Converts `components` values, `stride` apart.
  void add_slopes(std::size_t components, std::size_t stride, double* slopes) const;

  std::size_t more_;  // kernels diag(q_a)
};

// The kernels of a model, followed by diag(q_a) for all but the last of the data's residual shares.
class ResidualKernels : public Kernels {
 public:
  // `kernels`: null if the model has none. All must outlive this.
  ResidualKernels(Kernels* kernels, const FitData& data) : kernels_(kernels), data_(data) {}

  std::int64_t samples() const override { return data_.samples(); }
  int components() const override { return given() + data_.residuals() - 1; }
  double mean_diagonal(int component) const override;
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  double passes() const override { return kernels_ == nullptr ? 0 : kernels_->passes(); }

 private:
  int given() const { return kernels_ == nullptr ? 0 : kernels_->components(); }
  const double* shares(int component) const {
    return data_.residual_shares.data() + (component - given()) * samples();
  }

  Kernels* kernels_;
  const FitData& data_;
};

}  // namespace ancify::reml
