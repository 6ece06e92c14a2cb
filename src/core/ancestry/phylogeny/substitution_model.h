// How bases change along a branch: reversible models with rates that differ among sites.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/genome/bases.h"

namespace ancify {

// JC69, K80, HKY85 and GTR are all of this form.
struct SubstitutionRates {
  std::array<double, 6> exchangeabilities = {1, 1, 1, 1, 1, 1};  // AC, AG, AT, CG, CT, GT
  std::array<double, kBases> frequencies = {0.25, 0.25, 0.25, 0.25};
  std::optional<double> alpha;  // the shape of gamma rates; none: one rate for all sites
  int n_rates = 4;              // classes that stand for gamma rates
  double invariant = 0;         // the share of sites that never change
};

// [from][to]
using Transitions = std::array<std::array<double, kBases>, kBases>;

struct RateClass {
  double rate;
  double share;  // of sites
};

class SubstitutionModel {
 public:
  // InputError for rates, frequencies or shares that cannot be. Frequencies within 0.01 of summing
  // to 1 are scaled.
  explicit SubstitutionModel(const SubstitutionRates& rates);

  // The probabilities of change along a branch; rate 1 makes one substitution a unit of length.
  Transitions transitions(double length) const;
  // At equilibrium.
  const Posterior& frequencies() const { return frequencies_; }
  // Their mean rate is 1.
  const std::vector<RateClass>& rate_classes() const { return classes_; }

 private:
  Posterior frequencies_;
  std::vector<RateClass> classes_;
  // The rate matrix is left * diagonal(values) * right.
  std::array<double, kBases> values_{};
  Transitions left_{};
  Transitions right_{};
};

// The mean rates of n classes of equal probability of a gamma distribution with this shape and mean
// 1 (Yang 1994).
std::vector<double> gamma_rates(double alpha, int n);

// P(a, x), the share of a gamma distribution of shape a and scale 1 that lies below x.
double gamma_share_below(double a, double x);

}  // namespace ancify
