// The restricted likelihood of several traits: y_a = X b_a + sum_g u_ga + e_a, where u_ga and u_gb
// have the covariance C_gab K_g, and residuals of a sample the covariance C_eab. A sample may lack
// some traits. theta is C_g of each component, packed, the residual's last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/reml/fit/error_contrasts.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/tall_blocks.h"
#include "core/reml/multivariate/trait_pairs.h"

namespace ancify::reml {

struct TraitDerivatives {
  std::vector<double> score;
  std::vector<double> average;   // average information
  std::vector<double> expected;  // expected information
};

// A trait's samples and values. y is about 1: it is divided by `unit`, a power of 2, so that
// nothing is rounded.
struct Trait {
  std::vector<std::int64_t> rows;  // its samples
  std::vector<double> y;
  double unit;
  double variance;  // of y beyond the fixed effects
  ErrorContrasts contrasts;
};

// Effects at a model's current point, in units of the traits. Fixed effects refer to an
// orthonormal basis of each trait's X.
struct TraitEffects {
  std::vector<double> fixed;       // p x t
  std::vector<double> covariance;  // pt x pt
  std::vector<double> projection;  // P y, n x t; 0 for a missing trait
};

// Marks parameters that the data do not identify: residual covariances of traits without a common
// sample. `components`: with the residual.
std::vector<char> unknown_parameters(const std::vector<Trait>& traits, std::size_t components);

class TraitModel {
 public:
  TraitModel(const std::vector<Trait>& traits, std::size_t components);
  virtual ~TraitModel() = default;

  std::size_t traits() const { return traits_; }
  std::size_t components() const { return components_; }  // with the residual
  std::size_t parameters() const { return components_ * number_of_pairs(traits_); }
  // unknown_parameters(), which stay 0.
  const std::vector<char>& unknown() const { return unknown_; }

  // Moves to theta. Returns false if the covariance is not positive definite there; then no other
  // member may be called.
  virtual bool move_to(const std::vector<double>& theta) = 0;
  virtual double log_likelihood() const = 0;
  virtual TraitDerivatives derivatives() = 0;
  virtual TraitEffects effects() = 0;
  // True if a search from each start costs little.
  virtual bool search_is_cheap() const = 0;

 private:
  std::size_t traits_;
  std::size_t components_;
  std::vector<char> unknown_;
};

// One kernel, and samples with all traits: the kernel's eigenvectors separate the samples into
// small problems of t traits each. InputError if the kernel, called `name`, has a negative
// eigenvalue.
std::unique_ptr<TraitModel> one_kernel_traits(const std::vector<Trait>& traits, Kernels& kernels,
                                              const std::string& name, const Workers& workers);

// Any kernels, and any missing traits: a matrix over all values of all traits.
std::unique_ptr<TraitModel> dense_traits(const std::vector<Trait>& traits, Kernels& kernels,
                                         const std::vector<std::string>& names,
                                         const Workers& workers);

}  // namespace ancify::reml
