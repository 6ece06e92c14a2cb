// Input and output of REML fits, by either path. Vectors by component have residuals last; matrices
// are column-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ancify::reml {

// Fourth powers of y and of kernels must not overflow.
constexpr double kLargestSize = 1e70;

constexpr double kLogTwoPi = 1.837877066409345483560659472811;

// The data of n samples with p fixed effects; n > p.
struct FitData {
  std::int64_t samples() const { return static_cast<std::int64_t>(y.size()); }
  std::int64_t effects() const { return static_cast<std::int64_t>(x.size() / y.size()); }
  int residuals() const {
    return residual_shares.empty() ? 1 : static_cast<int>(residual_shares.size() / y.size());
  }
  // The mean of a residual's shares.
  double mean_residual(int residual) const;

  std::vector<double> y;
  std::vector<double> x;           // n x p, of full column rank
  std::vector<std::string> names;  // of components, for messages; may be empty
  // n x A, rows sum to 1: the residual is sum_a theta_a diag(q_a). Empty for theta I.
  std::vector<double> residual_shares = {};
};

// InputError if a value is not finite, or n <= p.
void check_data(const FitData& data);

// A power of 2 about the size of y's values, so that dividing y by it rounds nothing. `whole` is
// the norm of y, and `left` the norm of its part beyond the fixed effects, of dimension `freedom`.
// InputError if nothing is left, or if the squares of y overflow or underflow.
double response_unit(double whole, double left, std::int64_t freedom);

// A component for messages: its name in quotes, or "component 2".
std::string component_name(const FitData& data, std::size_t component);

// Replaces each NaN of `lower` by the default bound: 0 for a kernel, and a millionth of `variance`
// for a residual.
std::vector<double> with_default_bounds(std::vector<double> lower, double variance,
                                        int residuals = 1);

struct SearchSettings {
  std::vector<double> start;  // theta; empty if the search may choose
  std::vector<double> lower;  // bounds; NaN for the default of with_default_bounds()
  bool expected = false;      // expected information instead of average information
  double tolerance = 1e-18;   // of s'I^-1 s
  int max_iterations = 100;
};

// A point that a search has visited.
struct Iteration {
  double log_likelihood;  // NaN if unknown
  double decrement;       // s'I^-1 s over the free components
  int probes;             // 0 if everything is exact
  double step;            // sqrt(d'Id) of the step that led here, 0 at the start
  std::vector<double> theta;
};

// The result; n samples, G genetic components.
struct Fit {
  std::vector<double> theta;
  std::vector<double> score;
  std::vector<double> information;  // of all components
  double log_likelihood = 0;
  double log_likelihood_null = 0;     // without genetic components
  double mc_log_likelihood = 0;       // SD of the Monte Carlo error
  std::vector<double> mc_score;       // covariance of the score's Monte Carlo error
  std::vector<double> mean_diagonal;  // of each kernel and residual
  std::vector<char> at_bound;
  bool converged = false;
  std::string status;   // "converged", or a word for the failure
  std::string message;  // why it did not converge
  std::vector<Iteration> iterations;
  double passes = 0;
  int probes = 0;
  std::vector<double> coefficients;             // p
  std::vector<double> coefficients_covariance;  // p x p
  std::vector<double> residual_projection;      // P y
  std::vector<double> genetic;                  // n x G: theta_g K_g P y
  // A single kernel on X's complement as a tridiagonal matrix, with n values each, the last
  // off-diagonal one being 0; empty for several kernels.
  std::vector<double> kernel_diagonal;
  std::vector<double> kernel_off_diagonal;
  std::string method;
};

// A restricted likelihood at some variances.
struct LikelihoodPoint {
  std::vector<double> score;
  std::vector<double> information;          // average information
  std::vector<double> residual_projection;  // P y
};

}  // namespace ancify::reml
