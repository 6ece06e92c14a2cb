// Quadratic forms v'f(A)v of a matrix function as sums over a spectrum.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ancify::reml {

// A weighted sum over eigenvalues, or over the nodes of a quadrature rule.
struct SpectralSum {
  template <class Function>
  double of(const Function& f) const {
    double sum = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k) sum += weights[k] * f(nodes[k]);
    return sum;
  }

  std::vector<double> nodes;
  std::vector<double> weights;
};

// The result of k Lanczos steps with A from a vector v: a symmetric tridiagonal matrix.
struct LanczosRun {
  int steps() const { return static_cast<int>(diagonal.size()); }

  double square = 0;             // v'v
  std::vector<double> diagonal;  // k
  std::vector<double> beside;    // k; the last couples to the next step
  bool exhausted = false;        // v has no part outside these steps, so the sums are exact
};

// The initial steps of a run, and the increments until the quadrature is accurate.
constexpr int kFirstLanczosSteps = 6;
constexpr int kLanczosStepsAtOnce = 2;
// The largest quadrature error, as a share of a log-likelihood's Monte Carlo error.
constexpr double kQuadratureShare = 0.1;
// The number of steps after which a run is abandoned, and the fit's message.
constexpr int kMostLanczosSteps = 600;
std::string quadrature_message();

// The coefficients of (a A + b I)^-1 v in the basis of a run's Lanczos vectors.
std::vector<double> krylov_solution(const LanczosRun& run, double a, double b);

// The Gauss rule. For functions whose even derivatives are positive, its sum is below v'f(A)v.
SpectralSum gauss_rule(const LanczosRun& run);

// The Gauss-Radau rule with a node at `least`, a lower bound of A's eigenvalues. For functions
// whose odd derivatives are negative, its sum is above v'f(A)v. It equals the Gauss rule if the run
// is exhausted, or has found eigenvalues down to `least`.
SpectralSum gauss_radau_rule(const LanczosRun& run, double least);

}  // namespace ancify::reml
