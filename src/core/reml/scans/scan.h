// Tests of single variants, each as an additional fixed effect. z is a variant's column of centred
// calls, in which missing calls are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"
#include "core/genotypes/genotype_products.h"
#include "core/reml/fit/fixed_effects.h"
#include "core/reml/solvers/covariance.h"

namespace ancify::reml {

// A variant depends on the fixed effects if projecting them out leaves less than this share of its
// column's square.
constexpr double kDependentSquare = 1e-5;

// Forms by variant; 0 for variants without variance.
struct VariantQuadraticForms {
  std::vector<double> response;  // z'v of a column v
  std::vector<double> square;    // z'Sz, or z'Pz

  // Replaces z'Sz by z'Pz, unless z'Sz is 0.
  void take_projection(const std::vector<double>& squares) {
    for (std::size_t j = 0; j < square.size(); ++j) square[j] = square[j] > 0 ? squares[j] : 0;
  }
};

// The columns z of `matrix`, which must outlive them.
GenotypeProducts centred_calls(const GenotypeMatrix& matrix);

// z'v, and z'Sz, where S projects out the fixed effects; z'Sz is 0 if z depends on them.
VariantQuadraticForms quadratic_forms_off_effects(const GenotypeProducts& calls,
                                                  const FixedEffects& fixed,
                                                  const std::vector<double>& v,
                                                  JobControl& control);

// The columns z of some variants, n x variants.
std::vector<double> columns_of(const GenotypeProducts& calls,
                               const std::vector<std::int64_t>& variants, JobControl& control);

// z'Pz / z'Sz of columns z, by solves. InputError if a column was not solved, or for a kernel with
// a negative eigenvalue.
std::vector<double> projection_ratios(const RestrictedModel& model,
                                      const std::vector<double>& theta, std::vector<double> columns,
                                      std::uint64_t seed);

}  // namespace ancify::reml
