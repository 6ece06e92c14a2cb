// With B_i = S A_i S, theta solves  sum_j theta_j tr(B_i B_j) = y'B_i y: least squares of the
// products y_a y_b of all pairs of samples on B_1[a, b], B_2[a, b], ... (Haseman and Elston 1972,
// Behav. Genet. 2:3). tr(B_i B_j) is the mean of (B_i z)'(B_j z) over probes z; with all unit
// vectors times sqrt(n) it is exact.
//
// The jackknife leaves out blocks of samples, with all their pairs. Another study would draw new
// responses, so the errors of theta come from sampling individuals. Blocks of variants are unsound:
// with relatives or structure all blocks describe the same pairs, so they are far from independent.
// Nor does a kernel given as a matrix have variants. Relatives should share a block, as they do if
// samples are ordered by family.
#include "core/reml/stochastic/haseman_elston.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/reml/fit/steps.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/solvers/probes.h"
#include "core/reml/solvers/traces.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// Probes for the few pairs within each block.
constexpr int kBlockProbes = 8;
constexpr int kStartProbes = 16;
// Limits for a start, which must not lie at a bound: the smallest share of a kernel, and the
// largest share of all kernels.
constexpr double kLeastShare = 0.01;
constexpr double kMostGenetic = 0.8;
constexpr int kFewestProbes = 32;

// The normal equations, with a k x k matrix.
struct PairMoments {
  explicit PairMoments(std::size_t components)
      : matrix(components * components), right(components) {}

  Vector solution() const {
    const std::size_t k = right.size();
    const Vector inverse = free_inverse(matrix, std::vector<char>(k, 0));
    Vector theta(k);
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t i = 0; i < k; ++i) theta[i] += inverse[j * k + i] * right[j];
    }
    return theta;
  }

  Vector matrix;
  Vector right;
};

// Consecutive blocks of samples.
struct Blocks {
  std::int64_t begin(int block) const { return block * samples / count; }
  double size(std::size_t block) const {
    const int b = static_cast<int>(block);
    return static_cast<double>(begin(b + 1) - begin(b));
  }
  int of(std::int64_t sample) const {
    int block = static_cast<int>(sample * count / samples);
    while (begin(block + 1) <= sample) ++block;
    while (begin(block) > sample) --block;
    return block;
  }

  std::int64_t samples;
  int count;
};

class Regression {
 public:
  Regression(const RestrictedModel& model, int columns)
      : model_(model),
        n_(model.samples()),
        components_(static_cast<std::size_t>(model.components()) + 1),
        at_once_(std::max(1, columns / static_cast<int>(components_))) {}

  std::size_t components() const { return components_; }
  int at_once() const { return at_once_; }

  // B_i v for all components in turn, for columns v on the complement.
  Vector products(const double* v, int columns, Precision precision) const {
    const auto size = area(n_, columns);
    Vector products(size * components_);
    for (std::size_t g = 0; g + 1 < components_; ++g) {
      Vector unit(components_ - 1);
      unit[g] = 1;
      double* const own = &products[g * size];
      model_.kernels.times(unit.data(), v, columns, precision, own);
      model_.fixed.project(model_.workers, columns, own);
    }
    std::copy_n(v, size, &products[(components_ - 1) * size]);
    return products;
  }

  // out[j * k + i] += scale * sum of (B_i v)[a] (B_j v)[a] over rows from `begin` to `end`.
  void add_products(const Vector& products, int columns, int column, std::int64_t begin,
                    std::int64_t end, double scale, double* out) const {
    for (std::size_t i = 0; i < components_; ++i) {
      const double* const a = column_of(products, columns, i, column);
      for (std::size_t j = 0; j < components_; ++j) {
        const double* const b = column_of(products, columns, j, column);
        double sum = 0;
        for (std::int64_t row = begin; row < end; ++row) sum += a[row] * b[row];
        out[j * components_ + i] += scale * sum;
      }
    }
  }

  const double* column_of(const Vector& products, int columns, std::size_t component,
                          int column) const {
    return &products[(component * static_cast<std::size_t>(columns) +
                      static_cast<std::size_t>(column)) *
                     static_cast<std::size_t>(n_)];
  }

 private:
  const RestrictedModel& model_;
  std::int64_t n_;
  std::size_t components_;
  int at_once_;
};

// Computes the jackknife's input from single blocks: the moments of pairs within a block and, if
// traces are exact, of pairs with one of its samples. Blocks are processed in fixed groups, so that
// the results do not depend on the division of work.
class BlockMoments {
 public:
  BlockMoments(const RestrictedModel& model, const HasemanElstonSettings& settings,
               const Regression& regression, int first)
      : model_(model),
        settings_(settings),
        regression_(regression),
        blocks_{model.samples(), settings.blocks},
        first_(first),
        count_(std::min(kBlocksAtOnce, settings.blocks - first)),
        within_(static_cast<std::size_t>(count_), PairMoments(regression.components())),
        right_(within_.size(),
               Vector(regression.components() * static_cast<std::size_t>(settings.blocks))),
        with_(within_.size()) {
    add_response();
    if (is_exact(model, settings)) {
      add_units();
    } else {
      add_probes();
    }
  }

  static bool is_exact(const RestrictedModel& model, const HasemanElstonSettings& settings) {
    return model.samples() <= settings.exact_samples;
  }

  // Values of all blocks in turn: the matrix of pairs within the block, the right-hand sides of its
  // pairs with each block, then, if traces are exact, the matrix of pairs with it.
  Vector numbers() const {
    Vector all;
    for (std::size_t k = 0; k < within_.size(); ++k) {
      for (const Vector* part : {&within_[k].matrix, &right_[k], &with_[k]}) {
        all.insert(all.end(), part->begin(), part->end());
      }
    }
    return all;
  }

 private:
  // Calls use(indicators, columns, first) for the indicators of blocks first_ + `first`, ...
  template <class Use>
  void over_blocks(const Use& use) const {
    for (int first = 0; first < count_; first += regression_.at_once()) {
      const int columns = std::min(regression_.at_once(), count_ - first);
      Vector indicators(area(model_.samples(), columns));
      for (int c = 0; c < columns; ++c) {
        const auto begin = indicators.begin() + c * model_.samples();
        const int block = first_ + first + c;
        std::fill(begin + blocks_.begin(block), begin + blocks_.begin(block + 1), 1.0);
      }
      use(indicators, columns, first);
    }
  }

  // The response of a block alone.
  void add_response() {
    const Vector& y = model_.fixed.projected_y();
    over_blocks([&](const Vector& signs, int columns, int first) {
      Vector part = signs;
      for (std::size_t i = 0; i < part.size(); ++i) part[i] *= y[i % y.size()];
      model_.fixed.project(model_.workers, columns, part.data());
      const Vector own = regression_.products(part.data(), columns, Precision::kFull);
      for (int c = 0; c < columns; ++c) {
        const int probe = first + c;
        double* sum = right_[static_cast<std::size_t>(probe)].data();
        for (int b = 0; b < blocks_.count; ++b) {
          for (std::size_t i = 0; i < regression_.components(); ++i, ++sum) {
            const double* const column = regression_.column_of(own, columns, i, c);
            for (std::int64_t row = blocks_.begin(b); row < blocks_.begin(b + 1); ++row) {
              *sum += y[static_cast<std::size_t>(row)] * column[row];
            }
          }
        }
      }
    });
  }

  // Adds the unit vectors of all samples in these blocks.
  void add_units() {
    const std::int64_t n = model_.samples();
    for (Vector& with : with_) with.resize(within_.front().matrix.size());
    const std::int64_t end = blocks_.begin(first_ + count_);
    for (std::int64_t first = blocks_.begin(first_); first < end; first += regression_.at_once()) {
      const int columns =
          static_cast<int>(std::min<std::int64_t>(regression_.at_once(), end - first));
      Vector units(area(n, columns));
      for (int c = 0; c < columns; ++c) units[static_cast<std::size_t>(c * n + first + c)] = 1;
      model_.fixed.project(model_.workers, columns, units.data());
      const Vector products = regression_.products(units.data(), columns, Precision::kFull);
      for (int c = 0; c < columns; ++c) {
        const int b = blocks_.of(first + c);
        const auto k = static_cast<std::size_t>(b - first_);
        regression_.add_products(products, columns, c, 0, n, 1, with_[k].data());
        regression_.add_products(products, columns, c, blocks_.begin(b), blocks_.begin(b + 1), 1,
                                 within_[k].matrix.data());
      }
    }
  }

  void add_probes() {
    for (int probe = 0; probe < kBlockProbes; ++probe) {
      Vector signs(static_cast<std::size_t>(model_.samples()));
      fill_signs(model_.workers, settings_.seed, static_cast<std::uint64_t>(probe),
                 model_.samples(), 1, signs.data());
      over_blocks([&](const Vector& indicators, int columns, int first) {
        Vector part = indicators;
        for (std::size_t i = 0; i < part.size(); ++i) part[i] *= signs[i % signs.size()];
        model_.fixed.project(model_.workers, columns, part.data());
        const Vector products = regression_.products(part.data(), columns, Precision::kProbes);
        for (int c = 0; c < columns; ++c) {
          const int place = first + c;
          const int b = first_ + place;
          regression_.add_products(products, columns, c, blocks_.begin(b), blocks_.begin(b + 1),
                                   1.0 / kBlockProbes,
                                   within_[static_cast<std::size_t>(place)].matrix.data());
        }
      });
    }
  }

  const RestrictedModel& model_;
  const HasemanElstonSettings& settings_;
  const Regression& regression_;
  Blocks blocks_;
  int first_;
  int count_;
  std::vector<PairMoments> within_;  // pairs within each block, matrix only
  std::vector<Vector> right_;        // right-hand sides of its pairs with each block
  std::vector<Vector> with_;         // pairs with a sample of the block, matrix only; may be empty
};

// The moments of all pairs, of the pairs with a sample of a block, and of the pairs within it.
class JackknifeMoments {
 public:
  JackknifeMoments(const RestrictedModel& model, const HasemanElstonSettings& settings,
                   const Vector& of_blocks)
      : model_(model),
        settings_(settings),
        regression_(model, settings.columns),
        blocks_{model.samples(), settings.blocks},
        all_(regression_.components()),
        of_block_(static_cast<std::size_t>(settings.blocks), all_),
        within_(of_block_),
        right_(of_block_.size()),
        values_(squares()) {
    add_response();
    take_blocks(of_blocks.empty() ? all_blocks() : of_blocks);
    if (!BlockMoments::is_exact(model, settings)) add_probes();
  }

  HasemanElston result() const {
    HasemanElston found;
    found.theta = all_.solution();
    found.covariance = jackknife();
    found.mc_covariance = monte_carlo(found.theta);
    found.probes = values_.probes();
    return found;
  }

 private:
  std::size_t squares() const { return all_.matrix.size(); }

  void add_response() {
    const Vector& y = model_.fixed.projected_y();
    const Vector products = regression_.products(y.data(), 1, Precision::kFull);
    for (int b = 0; b < blocks_.count; ++b) {
      const auto k = static_cast<std::size_t>(b);
      for (std::size_t i = 0; i < regression_.components(); ++i) {
        const double* const own = regression_.column_of(products, 1, i, 0);
        double sum = 0;
        for (std::int64_t row = blocks_.begin(b); row < blocks_.begin(b + 1); ++row) {
          sum += y[static_cast<std::size_t>(row)] * own[row];
        }
        of_block_[k].right[i] += sum;
        all_.right[i] += sum;
      }
    }
  }

  Vector all_blocks() const {
    Vector all;
    for (int first = 0; first < blocks_.count; first += kBlocksAtOnce) {
      const Vector some = BlockMoments(model_, settings_, regression_, first).numbers();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  // Reads values in the layout of BlockMoments.
  void take_blocks(const Vector& numbers) {
    const bool exact = BlockMoments::is_exact(model_, settings_);
    const std::size_t of_pairs = of_block_.size() * regression_.components();
    const auto all = of_block_.size() * ((exact ? 2 : 1) * squares() + of_pairs);
    if (numbers.size() != all) throw InputError("the moments are of other blocks");
    auto from = numbers.begin();
    const auto take = [&](Vector& to) {
      std::copy_n(from, to.size(), to.begin());
      from += static_cast<std::ptrdiff_t>(to.size());
    };
    for (std::size_t b = 0; b < of_block_.size(); ++b) {
      take(within_[b].matrix);
      right_[b].resize(of_pairs);
      take(right_[b]);
      const double* const own = right_of_pair(b, b);
      within_[b].right.assign(own, own + regression_.components());
      if (!exact) continue;
      take(of_block_[b].matrix);
      for (std::size_t j = 0; j < squares(); ++j) all_.matrix[j] += of_block_[b].matrix[j];
    }
  }

  // Adds random signs until the Monte Carlo error is small.
  void add_probes() {
    const Probes probes(model_.fixed, settings_.seed);
    Vector sums(squares() * of_block_.size());
    for (int first = 0; first < settings_.max_probes; first += regression_.at_once()) {
      const int columns = std::min(regression_.at_once(), settings_.max_probes - first);
      Vector z(area(model_.samples(), columns));
      probes.fill(model_.workers, first, columns, z.data());
      const Vector products = regression_.products(z.data(), columns, Precision::kProbes);
      for (int c = 0; c < columns; ++c) {
        Vector whole(squares());
        for (int b = 0; b < blocks_.count; ++b) {
          Vector part(squares());
          regression_.add_products(products, columns, c, blocks_.begin(b), blocks_.begin(b + 1), 1,
                                   part.data());
          for (std::size_t j = 0; j < part.size(); ++j) {
            whole[j] += part[j];
            sums[static_cast<std::size_t>(b) * squares() + j] += part[j];
          }
        }
        values_.add(whole);
      }
      take(sums);
      if (values_.probes() >= kFewestProbes && is_precise()) return;
    }
  }

  // Means over the probes so far.
  void take(const Vector& sums) {
    all_.matrix = values_.mean();
    for (std::size_t b = 0; b < of_block_.size(); ++b) {
      for (std::size_t j = 0; j < squares(); ++j) {
        of_block_[b].matrix[j] = sums[b * squares() + j] / values_.probes();
      }
    }
  }

  bool is_precise() const {
    const Vector exact = jackknife();
    const Vector random = monte_carlo(all_.solution());
    const std::size_t k = regression_.components();
    for (std::size_t i = 0; i < k; ++i) {
      const double share = std::sqrt(random[i * (k + 1)] / exact[i * (k + 1)]);
      if (!(share <= settings_.mc_tolerance)) return false;
    }
    return true;
  }

  // Leaving out a block removes its pairs with all samples, which count pairs within the block
  // twice.
  Vector without(std::size_t block) const {
    PairMoments left = all_;
    const auto subtract = [](Vector& from, const Vector& with, const Vector& within) {
      for (std::size_t i = 0; i < from.size(); ++i) from[i] -= 2 * with[i] - within[i];
    };
    subtract(left.matrix, of_block_[block].matrix, within_[block].matrix);
    subtract(left.right, of_block_[block].right, within_[block].right);
    return left.solution();
  }

  const double* right_of_pair(std::size_t a, std::size_t b) const {
    return &right_[a][b * regression_.components()];
  }

  Vector jackknife() const {
    ProbeValues estimates(regression_.components());
    for (std::size_t b = 0; b < of_block_.size(); ++b) estimates.add(without(b));
    Vector covariance = estimates.covariance_of_mean();
    const auto j = static_cast<double>(blocks_.count);
    for (double& value : covariance) value *= (j - 1) * (j - 1);
    return settings_.corrected ? corrected(std::move(covariance)) : covariance;
  }

  // The jackknife less the sum over pairs of blocks of dd', where d is the change of theta by their
  // residual moments, as each block has counted its pairs. At least half of the jackknife is left:
  // the limit if only pairs matter.
  Vector corrected(Vector covariance) const {
    const std::size_t k = regression_.components();
    const Vector theta = all_.solution();
    const Vector inverse = free_inverse(all_.matrix, std::vector<char>(k, 0));
    const Vector expected = expected_between(theta);
    Vector sum(k * k);
    for (std::size_t a = 0; a < of_block_.size(); ++a) {
      for (std::size_t b = a + 1; b < of_block_.size(); ++b) {
        Vector change(k);
        for (std::size_t j = 0; j < k; ++j) {
          const double residual =
              right_of_pair(a, b)[j] - expected[j] * blocks_.size(a) * blocks_.size(b);
          for (std::size_t i = 0; i < k; ++i) change[i] += 2 * inverse[j * k + i] * residual;
        }
        for (std::size_t j = 0; j < k; ++j) {
          for (std::size_t i = 0; i < k; ++i) sum[j * k + i] += change[i] * change[j];
        }
      }
    }
    double share = 1;
    for (std::size_t i = 0; i < k * k; i += k + 1) {
      share = std::min(share, covariance[i] / 2 / std::max(sum[i], covariance[i] / 2));
    }
    for (std::size_t i = 0; i < k * k; ++i) covariance[i] -= share * sum[i];
    return covariance;
  }

  // The right-hand side that theta explains between two blocks, per pair of samples, as the mean
  // over all pairs of blocks.
  Vector expected_between(const Vector& theta) const {
    const std::size_t k = theta.size();
    Vector between = all_.matrix;
    auto pairs = static_cast<double>(blocks_.samples * blocks_.samples);
    for (std::size_t b = 0; b < within_.size(); ++b) {
      for (std::size_t i = 0; i < k * k; ++i) between[i] -= within_[b].matrix[i];
      pairs -= blocks_.size(b) * blocks_.size(b);
    }
    Vector expected(k);
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t i = 0; i < k; ++i) expected[i] += between[j * k + i] * theta[j] / pairs;
    }
    return expected;
  }

  // An error dT in T gives theta = T^-1 q the error -T^-1 dT theta.
  Vector monte_carlo(const Vector& theta) const {
    const std::size_t k = theta.size();
    ProbeValues changes(k);
    if (values_.probes() == 0) return Vector(k * k);
    const Vector inverse = free_inverse(all_.matrix, std::vector<char>(k, 0));
    for (int c = 0; c < values_.probes(); ++c) {
      const double* const matrix = &values_.values()[static_cast<std::size_t>(c) * k * k];
      Vector right(k);
      Vector change(k);
      for (std::size_t j = 0; j < k; ++j) {
        for (std::size_t i = 0; i < k; ++i) right[i] += matrix[j * k + i] * theta[j];
      }
      for (std::size_t j = 0; j < k; ++j) {
        for (std::size_t i = 0; i < k; ++i) change[i] -= inverse[j * k + i] * right[j];
      }
      changes.add(change);
    }
    return changes.covariance_of_mean();
  }

  const RestrictedModel& model_;
  const HasemanElstonSettings& settings_;
  Regression regression_;
  Blocks blocks_;
  PairMoments all_;
  std::vector<PairMoments> of_block_;  // pairs of any sample with one of the block
  std::vector<PairMoments> within_;    // pairs within the block
  std::vector<Vector> right_;          // right-hand sides of its pairs with each block
  ProbeValues values_;                 // the matrix by each probe
};

}  // namespace

HasemanElston haseman_elston(const FitData& data, Kernels& kernels,
                             const HasemanElstonSettings& settings, const Vector& of_blocks,
                             JobControl& control, int threads) {
  const Workers workers = {control, threads};
  const FixedEffects fixed(data, workers);
  const RestrictedModel model(data, kernels, fixed, workers);
  HasemanElston found = with_names(data, kernels.components(), [&] {
    return JackknifeMoments(model, settings, of_blocks).result();
  });
  for (int g = 0; g < kernels.components(); ++g) {
    found.mean_diagonal.push_back(kernels.mean_diagonal(g));
  }
  found.mean_diagonal.push_back(1);
  found.passes = kernels.passes();
  return found;
}

JackknifePart jackknife_moments(const FitData& data, Kernels& kernels,
                                const HasemanElstonSettings& settings, int first,
                                JobControl& control, int threads) {
  const Workers workers = {control, threads};
  const FixedEffects fixed(data, workers);
  const RestrictedModel model(data, kernels, fixed, workers);
  // Progress does not count the first passes of each part.
  const double before = kernels.passes();
  Vector moments =
      BlockMoments(model, settings, Regression(model, settings.columns), first).numbers();
  return {std::move(moments), kernels.passes() - before};
}

Vector haseman_elston_start(const RestrictedModel& model, const Vector& lower, std::uint64_t seed,
                            int columns) {
  const Regression regression(model, columns);
  const std::size_t k = regression.components();
  PairMoments moments(k);
  const Vector& y = model.fixed.projected_y();
  const Vector with_y = regression.products(y.data(), 1, Precision::kProbes);
  for (std::size_t i = 0; i < k; ++i) {
    column_products(model.workers, model.samples(), 1, y.data(),
                    regression.column_of(with_y, 1, i, 0), &moments.right[i]);
  }
  const int probes = std::min(regression.at_once(), kStartProbes);
  Vector z(area(model.samples(), probes));
  Probes(model.fixed, seed).fill(model.workers, 0, probes, z.data());
  const Vector products = regression.products(z.data(), probes, Precision::kProbes);
  for (int c = 0; c < probes; ++c) {
    regression.add_products(products, probes, c, 0, model.samples(), 1.0 / probes,
                            moments.matrix.data());
  }
  // Shares of the variance of y. With relatives, estimates from few probes may be far off.
  const Vector found = moments.solution();
  Vector shares;
  double genetic = 0;
  for (std::size_t g = 0; g + 1 < k; ++g) {
    const double mean = model.traces[g] / static_cast<double>(model.fixed.freedom());
    shares.push_back(std::max(found[g] * mean / model.fixed.variance(), kLeastShare));
    genetic += shares.back();
  }
  const double scale = std::min(1.0, kMostGenetic / genetic);
  Vector theta;
  for (std::size_t g = 0; g + 1 < k; ++g) {
    const double mean = model.traces[g] / static_cast<double>(model.fixed.freedom());
    theta.push_back(scale * shares[g] * model.fixed.variance() / mean);
  }
  theta.push_back((1 - scale * genetic) * model.fixed.variance());
  for (std::size_t i = 0; i < k; ++i) theta[i] = std::max(theta[i], lower[i]);
  return theta;
}

}  // namespace ancify::reml
