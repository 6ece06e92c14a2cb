// Score tests of single variants for cases and controls, under a logistic null model.
#pragma once

#include <vector>

#include "core/exec/job_control.h"
#include "core/genotypes/genotype_products.h"
#include "core/reml/fit/fixed_effects.h"

namespace ancify::reml {

// The log odds ratios by Firth's penalised likelihood: none; with the effects of the null model as
// they are; or with fixed effects estimated anew.
enum class Firth { kNone, kGivenNull, kWhole };

// A null model, with the weights W = diag(m (1 - m)).
struct CaseModel {
  std::vector<double> means;      // m, the probabilities of a case
  std::vector<double> residuals;  // y - m
  std::vector<double> roots;      // of W's diagonal
  Firth firth = Firth::kNone;
  std::vector<double> variances;  // of each variant's score; if empty, they are `ratio` g'W g
  double ratio = 1;
  double least_z = 0;  // standard deviations from 0 beyond which a score has saddlepoint tails
};

// By variant; g is the residual of a variant's column z on the fixed effects, weighted by W.
struct CaseTests {
  std::vector<double> score;   // z'(y - m)
  std::vector<double> square;  // g'W g, 0 for a variant that is not tested
  // The tails beyond the score and beyond its negative, by BernoulliScore::signed_root(); NaN for
  // scores below CaseModel::least_z.
  std::vector<double> root;
  std::vector<double> opposite_root;
  // NaN for a variant that is not tested, without Firth, or without convergence.
  std::vector<double> firth_effect;
  std::vector<double> firth_error;  // its standard error
};

// `fixed`: of W^1/2 X.
CaseTests test_cases(const GenotypeProducts& calls, const FixedEffects& fixed,
                     const CaseModel& model, JobControl& control);

}  // namespace ancify::reml
