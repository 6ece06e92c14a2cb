// Reversible substitution models along a branch, with rates that vary among sites.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/genome/bases.h"

namespace ancify {

// Parameters that cover JC69, K80, HKY85 and GTR.
struct SubstitutionRates {
  std::array<double, 6> exchangeabilities = {1, 1, 1, 1, 1, 1};  // AC, AG, AT, CG, CT, GT
  std::array<double, kBases> frequencies = {0.25, 0.25, 0.25, 0.25};
  std::optional<double> alpha;  // the shape of the gamma distribution of rates; none: one rate
  int n_rates = 4;              // classes that approximate the gamma distribution
  double invariant = 0;         // the share of invariant sites
  double rate = 1;              // the mean rate, relative to branch lengths or a mutation rate
};

// [from][to]
using Transitions = std::array<std::array<double, kBases>, kBases>;

struct RateClass {
  double rate;
  double share;  // of sites
};

class SubstitutionModel {
 public:
  // InputError for rates, frequencies, classes or shares out of range. Frequencies that sum to 1
  // within 0.01 are rescaled.
  explicit SubstitutionModel(const SubstitutionRates& rates);

  // The transition probabilities along a branch, whose length is in substitutions a site; rate 1
  // for all sites.
  Transitions transitions(double length) const;
  // The equilibrium frequencies.
  const Posterior& frequencies() const { return frequencies_; }
  // The rate classes; their mean rate equals SubstitutionRates::rate.
  const std::vector<RateClass>& rate_classes() const { return classes_; }

 private:
  Posterior frequencies_;
  std::vector<RateClass> classes_;
  // The rate matrix is left * diagonal(values) * right.
  std::array<double, kBases> values_{};
  Transitions left_{};
  Transitions right_{};
};

// The mean rates of n equally probable classes of a gamma distribution with shape alpha and mean 1
// (Yang 1994). Both must be in the ranges that SubstitutionModel checks.
std::vector<double> gamma_rates(double alpha, int n);

// P(a, x), the regularised lower incomplete gamma function, for a > 0.
double gamma_share_below(double a, double x);

}  // namespace ancify
