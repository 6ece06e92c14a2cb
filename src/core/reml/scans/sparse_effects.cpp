// Q is known for candidates alone, initially the variants with the largest |q|. The candidates'
// lasso is the lasso of all variants if no other variant violates its condition. So violating
// variants become candidates until none is left.
//
// The gradients z'P(y - Zb) of all variants come from products with Zb itself. So the conditions
// hold for the exact P, although Q may come from rougher solves: the minimum is found repeatedly
// for the q that gives these gradients.
#include "core/reml/scans/sparse_effects.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genotypes/standardise.h"
#include "core/numerics/vectors.h"
#include "core/reml/linear_algebra/lasso.h"
#include "core/reml/scans/scan.h"
#include "core/reml/stochastic/stochastic_fit.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;
using Numbers = std::vector<std::int64_t>;

constexpr int kSteps = 60;
constexpr double kLeastLambda = 0.05;
// Final violations as shares of max|q|: kMinimumViolation for a lasso, kViolation for all variants.
constexpr double kMinimumViolation = 1e-10;
// The violation allowed while variants still join.
constexpr double kRoughViolation = 1e-4;
constexpr double kViolation = 5e-9;
// Relative residuals of solves for Q, and for Zb.
constexpr double kQTolerance = 1e-6;
constexpr double kSlopeTolerance = 1e-11;
constexpr int kMostPaths = 200;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Vector falling(double largest) {
  Vector lambda;
  for (int k = 0; k < kSteps; ++k) {
    lambda.push_back(largest * std::pow(kLeastLambda, static_cast<double>(k) / (kSteps - 1)));
  }
  return lambda;
}

class PathFinder {
 public:
  PathFinder(const GenotypeMatrix& matrix, const OpenVariants& open, const Projection& projection,
             const FixedEffects& fixed, const SparseSettings& settings, JobControl& control)
      : matrix_(matrix),
        open_(open),
        projection_(projection),
        fixed_(fixed),
        settings_(settings),
        control_(control),
        z_(standardise(matrix, settings.scale_power)),
        n_(matrix.samples()),
        place_(at(matrix.variants()), -1) {}

  SparsePath find() {
    find_responses();
    path_.lambda = settings_.lambda.empty() ? falling(largest_) : settings_.lambda;
    const std::size_t steps = path_.lambda.size();
    Numbers joining = first_candidates();
    for (int round = 0; round < kMostPaths; ++round) {
      if (!joining.empty() && !add(joining)) return path_;
      descend(joining.empty() ? kMinimumViolation : kRoughViolation, !joining.empty());
      joining = look_at_all(joining.empty() ? kViolation : 2 * kRoughViolation);
      const double worst = *std::max_element(path_.violation.begin(), path_.violation.end());
      if (worst <= kViolation) break;
      if (round + 1 == kMostPaths) throw InputError("the path of sparse effects did not converge");
    }
    const double whole = dot(fixed_.projected_y(), py_);
    for (std::size_t l = 0; l < steps; ++l) {
      double sum = whole;
      for (std::size_t k = 0; k < path_.variants.size(); ++k) {
        sum -= effect(k, l) * (q_[k] + slopes_[l][k]);
        path_.effects.push_back(effect(k, l));
      }
      path_.rss.push_back(sum);
    }
    return path_;
  }

 private:
  double effect(std::size_t candidate, std::size_t step) const { return b_[step][candidate]; }

  // q of all variants; 0 for variants that do not vary beyond the fixed effects.
  void find_responses() {
    py_ = projection_.times(fixed_.projected_y(), kSlopeTolerance);
    const VariantQuadraticForms forms =
        quadratic_forms_off_effects(centred_calls(matrix_), fixed_, py_, control_);
    all_q_.resize(forms.square.size());
    tested_.resize(forms.square.size());
    for (std::size_t j = 0; j < all_q_.size(); ++j) {
      if (!(forms.square[j] > 0)) continue;
      ++path_.tested;
      tested_[j] = 1;
      all_q_[j] = z_.scales()[j] * forms.response[j];
      largest_ = std::max(largest_, std::abs(all_q_[j]));
    }
    if (!(largest_ > 0)) throw InputError("no variant varies beyond the fixed effects");
  }

  // The tested variants with the largest |q|, in their order.
  Numbers first_candidates() const {
    Numbers numbers;
    for (std::size_t j = 0; j < tested_.size(); ++j) {
      if (tested_[j] != 0) numbers.push_back(static_cast<std::int64_t>(j));
    }
    return most_of(std::move(numbers), settings_.candidates, all_q_);
  }

  // The `count` indices with the largest |values|, in their original order.
  static Numbers most_of(Numbers numbers, std::int64_t count, const Vector& values) {
    if (static_cast<std::int64_t>(numbers.size()) > count) {
      std::stable_sort(numbers.begin(), numbers.end(), [&](std::int64_t i, std::int64_t j) {
        return std::abs(values[at(i)]) > std::abs(values[at(j)]);
      });
      numbers.resize(at(count));
      std::sort(numbers.begin(), numbers.end());
    }
    return numbers;
  }

  // Makes these variants candidates: q, Q, and effects of 0. Returns false if they do not fit.
  bool add(const Numbers& joining) {
    const auto old = static_cast<std::int64_t>(path_.variants.size());
    const auto count = old + static_cast<std::int64_t>(joining.size());
    if (count > settings_.most) {
      path_.needed = count;
      return false;
    }
    control_.expect(count - old);
    for (const std::int64_t j : joining) {
      place_[at(j)] = static_cast<std::int64_t>(path_.variants.size());
      path_.variants.push_back(j);
      q_.push_back(all_q_[at(j)]);
    }
    candidates_ = open_(path_.variants);
    for (Vector& column : products_) column.resize(at(count));
    products_.resize(at(count), Vector(at(count)));
    const std::int64_t width = columns_for(n_);
    for (std::int64_t first = old; first < count; first += width) {
      add_products(first, std::min(width, count - first));
    }
    b_.resize(path_.lambda.size(), Vector(at(old)));
    slopes_.resize(path_.lambda.size());
    for (std::size_t l = 0; l < path_.lambda.size(); ++l) {
      for (std::int64_t k = old; k < count; ++k) {
        double slope = q_[at(k)];
        for (std::size_t j = 0; j < b_[l].size(); ++j) slope -= b_[l][j] * products_[j][at(k)];
        slopes_[l].push_back(slope);
      }
      b_[l].resize(at(count));
    }
    return true;
  }

  // The elements of Q for some candidates, with those before them and with each other.
  void add_products(std::int64_t first, std::int64_t size) {
    const GenotypeProducts z = standardise(*candidates_, settings_.scale_power);
    Numbers numbers(at(size));
    std::iota(numbers.begin(), numbers.end(), first);
    Vector columns = columns_of(centred_calls(*candidates_), numbers, control_);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i] *= z.scales()[at(first) + i / at(n_)];
    }
    columns = projection_.times(std::move(columns), kQTolerance);
    GenotypeProducts::Pass pass;
    pass.v = columns.data();
    pass.columns = static_cast<int>(size);
    pass.bits = ProductBits::k56;
    pass.wanted = [&](std::int64_t block) { return block * kBlockVariants < first + size; };
    z.run(control_, pass, [&](const GenotypeBlock& block, const double* t, double* /*u*/) {
      for (int j = 0; j < block.variants(); ++j) {
        const std::int64_t row = block.first_variant() + j;
        for (std::int64_t c = std::max<std::int64_t>(row - first, 0); c < size; ++c) {
          products_[at(first + c)][at(row)] = t[j * size + c];
        }
      }
    });
    for (std::int64_t column = first; column < first + size; ++column) {
      for (std::int64_t row = 0; row < column; ++row) {
        products_[at(row)][at(column)] = products_[at(column)][at(row)];
      }
    }
    control_.advance(size);
  }

  // Minimises at each lambda with the q that reproduces the gradients found there: gradient + Qb.
  // `anew`: starts from the path of all candidates instead of the current effects.
  void descend(double violation, bool anew) {
    const auto between = [&] { TaskContext(control_).throw_if_stopped(); };
    LassoPath path(products_, q_);
    for (std::size_t l = 0; l < path_.lambda.size(); ++l) {
      Vector q = slopes_[l];
      for (std::size_t j = 0; j < q.size(); ++j) {
        for (std::size_t i = 0; b_[l][j] != 0 && i < q.size(); ++i) {
          q[i] += b_[l][j] * products_[j][i];
        }
      }
      if (anew) b_[l] = path.at(path_.lambda[l], between);
      minimise_lasso(products_, q, path_.lambda[l], violation * largest_, between, b_[l]);
    }
  }

  // Computes gradients and violations of all variants. Returns variants that violate their
  // condition by more than `least` and must become candidates: the worst, at most as many as the
  // present candidates.
  Numbers look_at_all(double least) {
    find_residuals();
    const std::size_t steps = path_.lambda.size();
    GenotypeProducts::Pass pass;
    pass.v = path_.residuals.data();
    pass.columns = static_cast<int>(steps);
    pass.bits = ProductBits::k56;
    pass.wanted = [](std::int64_t) { return true; };
    Vector worst(tested_.size());  // of each variant
    Vector of_blocks(at(matrix_.blocks()) * steps);
    z_.run(control_, pass, [&](const GenotypeBlock& block, const double* t, double* /*u*/) {
      double* const of_block = &of_blocks[at(block.number()) * steps];
      for (int j = 0; j < block.variants(); ++j) {
        const std::size_t variant = at(block.first_variant() + j);
        if (tested_[variant] == 0) continue;
        for (std::size_t l = 0; l < steps; ++l) {
          const double violation = look_at(variant, l, t[at(j) * steps + l]);
          worst[variant] = std::max(worst[variant], violation);
          of_block[l] = std::max(of_block[l], violation);
        }
      }
    });
    path_.violation.assign(steps, 0);
    for (std::size_t k = 0; k < of_blocks.size(); ++k) {
      double& of_step = path_.violation[k % steps];
      of_step = std::max(of_step, of_blocks[k]);
    }
    looked_ = true;
    Numbers joining;
    for (std::size_t j = 0; j < worst.size(); ++j) {
      if (place_[j] < 0 && worst[j] > least) joining.push_back(static_cast<std::int64_t>(j));
    }
    const auto most = static_cast<std::int64_t>(path_.variants.size());
    return most_of(std::move(joining), most, worst);
  }

  // The violation of a variant with this gradient, as a share of max|q|.
  double look_at(std::size_t variant, std::size_t step, double slope) {
    double b = 0;
    if (place_[variant] >= 0) {
      const std::size_t k = at(place_[variant]);
      slopes_[step][k] = slope;
      b = effect(k, step);
    }
    return lasso_violation(b, slope, path_.lambda[step]) / largest_;
  }

  // P (y - Zb) for each lambda.
  void find_residuals() {
    const std::size_t steps = path_.lambda.size();
    Vector genetic(at(n_) * steps);
    GenotypeProducts::Pass pass;
    pass.out_columns = static_cast<int>(steps);
    pass.out = genetic.data();
    pass.bits = ProductBits::k56;
    pass.wanted = [](std::int64_t) { return true; };
    const GenotypeProducts z = standardise(*candidates_, settings_.scale_power);
    z.run(control_, pass, [&](const GenotypeBlock& block, const double* /*t*/, double* u) {
      for (int j = 0; j < block.variants(); ++j) {
        for (std::size_t l = 0; l < steps; ++l) {
          u[at(j) * steps + l] = effect(at(block.first_variant() + j), l);
        }
      }
    });
    path_.residuals = projection_.times(std::move(genetic), kSlopeTolerance);
    for (std::size_t i = 0; i < path_.residuals.size(); ++i) {
      path_.residuals[i] = py_[i % at(n_)] - path_.residuals[i];
    }
  }

  const GenotypeMatrix& matrix_;
  const OpenVariants& open_;
  const Projection& projection_;
  const FixedEffects& fixed_;
  const SparseSettings& settings_;
  JobControl& control_;
  GenotypeProducts z_;
  std::int64_t n_;
  Vector py_;
  Vector all_q_;
  std::vector<char> tested_;
  double largest_ = 0;  // max|q|
  Numbers place_;       // of each variant among the candidates, or -1
  std::unique_ptr<GenotypeMatrix> candidates_;
  Vector q_;                    // of candidates
  SymmetricColumns products_;   // Q
  std::vector<Vector> b_;       // of candidates, for each lambda
  std::vector<Vector> slopes_;  // likewise
  bool looked_ = false;
  SparsePath path_;
};

}  // namespace

SparsePath sparse_path(const GenotypeMatrix& matrix, const OpenVariants& open,
                       const Projection& projection, const FixedEffects& fixed,
                       const SparseSettings& settings, JobControl& control) {
  return PathFinder(matrix, open, projection, fixed, settings, control).find();
}

}  // namespace ancify::reml
