// Saddlepoint tails of rare variants treat samples with a non-modal call exactly, and all others
// together as normal (fastSPA; Dey and others 2017, AJHG 101:37). Relatives
// enlarge or reduce the variance of a score by a ratio, so the score is divided by its root (SAIGE;
// Zhou and others 2018, Nature Genetics 50:1335).
#include "core/reml/scans/case_scan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/genotypes/block_columns.h"
#include "core/reml/scans/firth.h"
#include "core/reml/scans/saddlepoint.h"
#include "core/reml/scans/scan.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

class Tester {
 public:
  Tester(const FixedEffects& fixed, const CaseModel& model) : fixed_(fixed), model_(model) {
    for (std::size_t i = 0; i < model.means.size(); ++i) {
      cases_.push_back(model.residuals[i] > 0 ? 1 : 0);
      log_odds_.push_back(std::log(model.means[i]) - std::log1p(-model.means[i]));
    }
  }

  // V of a pass: the residuals, and W^1/2 Q.
  Vector columns() const {
    Vector columns = model_.residuals;
    const auto n = model_.roots.size();
    for (std::size_t k = 0; k < fixed_.basis().size(); ++k) {
      columns.push_back(fixed_.basis()[k] * model_.roots[k % n]);
    }
    return columns;
  }

  // g'W g of a column z; `t` has z'V.
  double square(const Vector& z, const double* t) const {
    double whole = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      whole += z[i] * z[i] * model_.roots[i] * model_.roots[i];
    }
    double left = whole;
    for (int c = 1; c <= fixed_.effects(); ++c) left -= t[c] * t[c];
    return left > kDependentSquare * whole ? left : 0;
  }

  // The score's distribution under the null model without relatives.
  BernoulliScore score_of(const Vector& z, const double* t, double usual, double square) const {
    Vector weights;
    Vector means;
    double normal_variance = square;
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (z[i] == usual) continue;
      const double g = left_of(z, t, i);
      weights.push_back(g);
      means.push_back(model_.means[i]);
      normal_variance -= g * g * model_.roots[i] * model_.roots[i];
    }
    if (2 * weights.size() < z.size()) {
      return {std::move(weights), std::move(means), std::max(normal_variance, 0.0)};
    }
    weights.clear();
    for (std::size_t i = 0; i < z.size(); ++i) weights.push_back(left_of(z, t, i));
    return {std::move(weights), model_.means, 0};
  }

  FirthEffect firth(const Vector& z, const double* t) const {
    const auto n = z.size();
    Vector rows;
    for (std::size_t i = 0; i < n; ++i) {
      if (model_.firth == Firth::kWhole) {
        for (int c = 0; c < fixed_.effects(); ++c) {
          rows.push_back(fixed_.basis()[static_cast<std::size_t>(c) * n + i] / model_.roots[i]);
        }
      }
      rows.push_back(left_of(z, t, i));
    }
    return firth_effect(cases_, log_odds_, rows);
  }

 private:
  // The i-th value of g = z - W^-1/2 Q Q'W^1/2 z.
  double left_of(const Vector& z, const double* t, std::size_t i) const {
    const auto n = z.size();
    double explained = 0;
    for (int c = 0; c < fixed_.effects(); ++c) {
      explained += t[1 + c] * fixed_.basis()[static_cast<std::size_t>(c) * n + i];
    }
    return z[i] - explained / model_.roots[i];
  }

  const FixedEffects& fixed_;
  const CaseModel& model_;
  Vector cases_;
  Vector log_odds_;
};

// The value of most homozygous samples: of the two extremes, the one closer to the mean, 0.
double usual_value(const Vector& z) {
  const auto [least, most] = std::minmax_element(z.begin(), z.end());
  return -*least < *most ? *least : *most;
}

}  // namespace

CaseTests test_cases(const GenotypeProducts& calls, const FixedEffects& fixed,
                     const CaseModel& model, JobControl& control) {
  const Tester tester(fixed, model);
  const Vector columns = tester.columns();
  const auto m = static_cast<std::size_t>(calls.matrix().variants());
  const Vector missing(m, std::numeric_limits<double>::quiet_NaN());
  CaseTests tests = {Vector(m), Vector(m), missing, missing, missing, missing};
  GenotypeProducts::Pass pass;
  pass.v = columns.data();
  pass.columns = 1 + fixed.effects();
  pass.bits = ProductBits::k56;
  pass.wanted = [](std::int64_t) { return true; };
  calls.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* /*u*/) {
    const BlockColumns of_block(calls, block);
    Vector z(model.means.size());
    for (int j = 0; j < block.variants(); ++j) {
      const auto variant = static_cast<std::size_t>(block.first_variant() + j);
      const double* const row = t + static_cast<std::ptrdiff_t>(j) * pass.columns;
      of_block.write(j, 0, static_cast<std::int64_t>(z.size()), z.data());
      const double square = tester.square(z, row);
      tests.score[variant] = row[0];
      tests.square[variant] = square;
      if (model.firth != Firth::kNone && square > 0) {
        const FirthEffect firth = tester.firth(z, row);
        tests.firth_effect[variant] = firth.effect;
        tests.firth_error[variant] = firth.error;
      }
      const double by = model.variances.empty() ? model.ratio : model.variances[variant] / square;
      const double score = row[0] / std::sqrt(by);
      const double least_square = model.least_z * model.least_z * square;
      if (!(score * score >= least_square && square > 0)) continue;
      const BernoulliScore sum = tester.score_of(z, row, usual_value(z), square);
      tests.root[variant] = sum.signed_root(score);
      tests.opposite_root[variant] = sum.signed_root(-score);
    }
  });
  return tests;
}

}  // namespace ancify::reml
