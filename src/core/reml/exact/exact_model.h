// The restricted likelihood of data on the complement of their fixed effects: y ~ N(0, H) of size N
// = n - p, H = sum_g theta_g A_g + theta_e I, or with several residuals. Vectors by component have
// residuals last.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/job_control.h"
#include "core/reml/fit/fit.h"
#include "core/reml/kernels/heterogeneous_residual.h"
#include "core/reml/linear_algebra/tall_blocks.h"
#include "core/reml/linear_algebra/tridiagonal.h"

namespace ancify::reml {

// P = H^-1 here.
struct Derivatives {
  std::vector<double> score;
  std::vector<double> traces;    // tr(P A_i)
  std::vector<double> average;   // average information
  std::vector<double> expected;  // expected information; empty unless requested
};

class ExactModel {
 public:
  explicit ExactModel(std::vector<double> y) : y_(std::move(y)) {}
  virtual ~ExactModel() = default;

  int size() const { return static_cast<int>(y_.size()); }
  const std::vector<double>& y() const { return y_; }
  // The number of components, including the residual.
  virtual int components() const = 0;
  // tr(A_g) / N of the genetic components.
  virtual std::vector<double> mean_diagonals() const = 0;

  // Moves to theta. Returns false if H is not positive definite there; then no other member may be
  // called.
  virtual bool move_to(const std::vector<double>& theta) = 0;
  virtual double log_determinant() const = 0;  // of H
  virtual double quadratic() const = 0;        // y'Py
  double log_likelihood() const;
  virtual Derivatives derivatives(bool expected) = 0;
  // True if expected information is nearly free.
  virtual bool expected_is_cheap() const = 0;
  // P b, for columns of length N, in the original coordinates of y and the kernels.
  virtual std::vector<double> solve(std::vector<double> b) const = 0;
  std::vector<double> solve_y() const { return solve(y_); }

  // Points from which a search is likely to find the largest likelihood.
  virtual std::vector<std::vector<double>> starts(const std::vector<double>& lower) = 0;
  // True if a search from each start costs little; else only the best start is worth one.
  virtual bool search_is_cheap() const = 0;

 private:
  std::vector<double> y_;
};

// A model of one kernel, N x N. Its cost is dominated by the reduction to tridiagonal form.
// `kernel` is overwritten. `name` is for messages: InputError if it has a negative eigenvalue, or
// equals the residual.
class OneKernelModel : public ExactModel {
 public:
  OneKernelModel(std::vector<double> kernel, const std::vector<double>& y, const std::string& name,
                 const Workers& workers);

  int components() const override { return 2; }
  std::vector<double> mean_diagonals() const override { return {mean_}; }
  bool move_to(const std::vector<double>& theta) override;
  double log_determinant() const override { return log_determinant_; }
  double quadratic() const override { return quadratic_; }
  Derivatives derivatives(bool expected) override;
  bool expected_is_cheap() const override { return true; }
  std::vector<double> solve(std::vector<double> b) const override;
  std::vector<std::vector<double>> starts(const std::vector<double>& lower) override;
  bool search_is_cheap() const override { return true; }

  // The kernel's tridiagonal form.
  const Tridiagonal& form() const { return form_; }

 private:
  // tr(P A), tr(P), ...: each name spells its product.
  struct Traces {
    double pa = 0, p = 0, papa = 0, pap = 0, pp = 0;
  };
  Traces traces() const;
  bool factorise(const std::vector<double>& theta);
  // Solves in the coordinates in which the kernel is tridiagonal.
  void solve_tridiagonal(std::vector<double>& b) const;
  std::vector<double> kernel_times(const std::vector<double>& b) const;

  std::vector<double> kernel_;
  Tridiagonal form_;
  std::vector<double> rotated_y_;
  double mean_ = 0;  // of the kernel's diagonal
  std::vector<double> theta_;
  std::vector<double> pivots_;  // D of H = L D L'
  std::vector<double> ratios_;  // below the diagonal of L
  std::vector<double> py_;      // P y
  double log_determinant_ = 0;
  double quadratic_ = 0;
};

// A model of any number of kernels, N x N, with both triangles. Each point costs a Cholesky
// factorisation, and derivatives cost an inverse. `names` are for messages: InputError if a kernel
// has a negative eigenvalue, or depends on the residual and the kernels before it.
class CholeskyModel : public ExactModel {
 public:
  CholeskyModel(std::vector<std::vector<double>> kernels, const std::vector<double>& y,
                const std::vector<std::string>& names, const Workers& workers);

  int components() const override { return static_cast<int>(kernels_.size()) + 1; }
  std::vector<double> mean_diagonals() const override;
  bool move_to(const std::vector<double>& theta) override;
  double log_determinant() const override { return log_determinant_; }
  double quadratic() const override { return quadratic_; }
  Derivatives derivatives(bool expected) override;
  bool expected_is_cheap() const override { return false; }
  std::vector<double> solve(std::vector<double> b) const override;
  std::vector<std::vector<double>> starts(const std::vector<double>& lower) override;
  bool search_is_cheap() const override;

 private:
  void check_independent(const std::vector<std::string>& names);
  std::vector<double> haseman_elston(const std::vector<double>& lower) const;
  std::vector<double> inverse() const;
  std::vector<double> expected_information(const std::vector<double>& inverse) const;
  void throw_if_stopped() const;

  std::vector<std::vector<double>> kernels_;
  Workers workers_;
  std::vector<double> gram_;    // tr(A_i A_j)
  std::vector<double> factor_;  // of H
  std::vector<double> py_;
  double log_determinant_ = 0;
  double quadratic_ = 0;
};

// A model whose residual is sum_a theta_a diag(q_a), with sum_a q_a = 1. `model` has residual I;
// its last kernels are diag(q_a) on the complement, for all but the last of `residuals`.
class HeterogeneousModel : public ExactModel {
 public:
  HeterogeneousModel(std::unique_ptr<ExactModel> model, int residuals);

  int components() const override { return model_->components(); }
  std::vector<double> mean_diagonals() const override;
  bool move_to(const std::vector<double>& theta) override;
  double log_determinant() const override { return model_->log_determinant(); }
  double quadratic() const override { return model_->quadratic(); }
  Derivatives derivatives(bool expected) override;
  bool expected_is_cheap() const override { return model_->expected_is_cheap(); }
  std::vector<double> solve(std::vector<double> b) const override {
    return model_->solve(std::move(b));
  }
  std::vector<std::vector<double>> starts(const std::vector<double>& lower) override;
  bool search_is_cheap() const override { return model_->search_is_cheap(); }

  const HeterogeneousResidual& residual() const { return residual_; }

 private:
  std::unique_ptr<ExactModel> model_;
  HeterogeneousResidual residual_;
  std::size_t first_;  // index of the first residual
};

}  // namespace ancify::reml
