// A cheaply invertible approximation of the covariance: its leading directions, and the mean of all
// others.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reml/linear_algebra/quadrature.h"
#include "core/reml/solvers/covariance.h"

namespace ancify::reml {

// An orthonormal basis U, n x rank, of directions in which kernels are large.
class Sketch {
 public:
  // Takes three passes over the kernels, whose `weights` determine the directions. The rank is
  // reduced if the kernels have fewer directions. InputError if a kernel has a negative eigenvalue
  // among them. `model` must outlive this.
  Sketch(const RestrictedModel& model, const std::vector<double>& weights, int rank,
         std::uint64_t seed);

  const RestrictedModel& model() const { return model_; }
  int rank() const { return rank_; }
  // Dimension of the complement outside U.
  std::int64_t rest() const { return model_.fixed.freedom() - rank_; }
  const std::vector<double>& basis() const { return u_; }
  // U'K_g U, rank x rank.
  const std::vector<double>& inner(int component) const {
    return inner_[static_cast<std::size_t>(component)];
  }
  // d_g: the mean eigenvalue of K_g outside U, (tr SK_gS - tr U'K_gU) / rest.
  double outer(int component) const { return outer_[static_cast<std::size_t>(component)]; }
  // U'(sum_g theta_g K_g + theta_e I)U.
  std::vector<double> inner_sum(const std::vector<double>& theta) const;
  // sum_g theta_g d_g + theta_e.
  double outer_sum(const std::vector<double>& theta) const;

 private:
  void find_basis(const std::vector<double>& weights, std::uint64_t seed);
  void orthonormalise();

  const RestrictedModel& model_;
  int rank_;
  std::vector<double> u_;
  std::vector<std::vector<double>> inner_;
  std::vector<double> outer_;
};

// The projection of columns v on the complement by a sketch: U'v, and the squared length of the
// rest.
struct Shadows {
  Shadows(const Sketch& sketch, int columns, const double* v);

  int columns;
  std::vector<double> along;  // rank x columns
  std::vector<double> rest;   // of each column
};

// The projection of H v by a sketch, for columns v on the complement. Takes one pass.
struct ProductShadows {
  ProductShadows(const Sketch& sketch, const RestrictedCovariance& covariance, int columns,
                 const double* v, const double* with);

  std::vector<double> along;  // U'Hv, rank x columns
  std::vector<double> forms;  // w'Hv of each column w of `with`
};

// M = d (S - UU') + U (U'HU) U' at a theta, with d = outer_sum(theta). `sketch` must outlive this.
class Preconditioner {
 public:
  // NotPositive if M is not positive.
  Preconditioner(const Sketch& sketch, const std::vector<double>& theta);

  // out = M^+ v for columns v on the complement.
  void solve(const double* v, int columns, double* out) const;
  // tr(M^+ A_i) for each component, the residual last, where A_g = d_g (S - UU') + U U'K_gU U' and
  // A_e = S.
  std::vector<double> traces() const;
  // v'M^+ A_i v for each component i and column, [i * columns + c].
  std::vector<double> quadratic_forms(const Shadows& v) const;
  // (H u)'M^+ A_i v likewise; `hu` must have been made with v.
  std::vector<double> quadratic_forms(const ProductShadows& hu, const Shadows& v) const;

 private:
  // The forms from U'u, U'v and the inner product of u and v outside U.
  std::vector<double> quadratic_forms(const std::vector<double>& u, const std::vector<double>& v,
                                      const std::vector<double>& rest) const;

  const Sketch& sketch_;
  std::vector<double> theta_;
  double outer_;
  std::vector<double> inverse_;  // of U'HU
};

// The eigenvalues of M at a theta, where M may be indefinite, and coordinates along its
// eigenvectors. `sketch` must outlive this.
class SketchSpectrum {
 public:
  SketchSpectrum(const Sketch& sketch, const std::vector<double>& theta);

  // tr f(M).
  SpectralSum trace() const;
  // v'f(M)v for column c.
  SpectralSum form(const Shadows& v, int c) const;
  // Approximates v'f(H)v - v'f(M)v to first order in H - M, for column c. `hv` must have been made
  // with v. Its mean over probes v is 0, whatever f. All columns share the nodes.
  SpectralSum first_order(const Shadows& v, const ProductShadows& hv, int c) const;

 private:
  // Column c of U'v, in M's eigenvectors.
  std::vector<double> coordinates(const std::vector<double>& along, int c) const;

  const Sketch& sketch_;
  double outer_;
  double mean_;  // of all eigenvalues
  std::vector<double> values_;
  std::vector<double> vectors_;
};

}  // namespace ancify::reml
