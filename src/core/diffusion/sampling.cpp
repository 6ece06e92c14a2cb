// Expected spectrum: E[sites with d derived of n] = integral of C(n, d) x^d (1 - x)^(n - d) phi(x)
// (Sawyer and Hartl 1992, Genetics 132:1161; Gutenkunst and others 2009, PLoS Genet. 5:e1000695).
#include "core/diffusion/sampling.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/diffusion/model.h"
#include "core/diffusion/quadrature.h"

namespace ancify::diffusion {

namespace {

// Exact for samples of up to 46 haplotypes. For larger samples, the grid must have more points than
// the sample has haplotypes, so that binomial probabilities change little between points.
constexpr int kMostNodes = 24;

// Starts at the mode and multiplies by ratios of neighbouring probabilities, so nothing overflows.
void binomial_probabilities(int n, double x, std::vector<double>& p) {
  p.assign(static_cast<std::size_t>(n) + 1, 0);
  if (x <= 0 || x >= 1) {
    p[x <= 0 ? 0 : n] = 1;
    return;
  }
  const int mode = std::min(static_cast<int>((n + 1) * x), n);
  const double odds = x / (1 - x);
  p[mode] = 1;
  double sum = 1;
  for (int d = mode; d < n; ++d) sum += p[d + 1] = p[d] * odds * (n - d) / (d + 1);
  for (int d = mode; d > 0; --d) sum += p[d - 1] = p[d] / odds * d / (n - d + 1);
  for (int d = 0; d <= n; ++d) p[d] /= sum;
}

// The beta-binomial probabilities of one individual's derived alleles. The parameters, which would
// be infinite without inbreeding, are multiplied by `inbreeding`.
std::vector<double> individual_probabilities(int ploidy, double x, double inbreeding) {
  const double outbred = 1 - inbreeding;
  std::vector<double> p;
  for (int derived = 0; derived <= ploidy; ++derived) {
    double probability = 1;
    for (int i = 0; i < derived; ++i) {
      probability *= (x * outbred + i * inbreeding) * (ploidy - i) / (derived - i);
    }
    for (int i = 0; i < ploidy - derived; ++i) {
      probability *= (1 - x) * outbred + i * inbreeding;
    }
    for (int i = 0; i < ploidy; ++i) probability /= outbred + i * inbreeding;
    p.push_back(probability);
  }
  return p;
}

// The distribution of the sum of two independent counts.
std::vector<double> convolved(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  }
  return sum;
}

SampleWeights no_weights(const Grid& grid, int size) {
  return {size, std::vector<double>((static_cast<std::size_t>(size) + 1) * grid.x.size())};
}

// Adds probabilities[d] times `factor` to the row of a point.
void add_to_row(std::size_t point, const std::vector<double>& probabilities, double factor,
                SampleWeights& weights) {
  double* const row = &weights.values[point * (static_cast<std::size_t>(weights.size) + 1)];
  for (std::size_t d = 0; d < probabilities.size(); ++d) row[d] += probabilities[d] * factor;
}

}  // namespace

SampleWeights analytic_weights(const Grid& grid, int size) {
  SampleWeights weights = no_weights(grid, size);
  const GaussRule rule(std::min((size + 3) / 2, kMostNodes));
  std::vector<double> p;
  for (std::size_t i = 0; i < grid.width.size(); ++i) {
    for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
      const double upper = (1 + rule.nodes[node]) / 2;
      const double mass = rule.weights[node] / 2 * grid.width[i];
      binomial_probabilities(size, grid.x[i] + upper * grid.width[i], p);
      add_to_row(i, p, mass * (1 - upper), weights);
      add_to_row(i + 1, p, mass * upper, weights);
    }
  }
  return weights;
}

SampleWeights direct_weights(const Grid& grid, int size, bool ascertained) {
  SampleWeights weights = no_weights(grid, size);
  std::vector<double> p;
  for (std::size_t i = 0; i < grid.x.size(); ++i) {
    const double x = grid.x[i];
    binomial_probabilities(size, x, p);
    add_to_row(i, p, (ascertained ? x * (1 - x) : 1) / grid.inverse_weight[i], weights);
  }
  return weights;
}

SampleWeights inbred_weights(const Grid& grid, int size, double inbreeding, int ploidy) {
  SampleWeights weights = no_weights(grid, size);
  for (std::size_t i = 0; i < grid.x.size(); ++i) {
    const auto individual = individual_probabilities(ploidy, grid.x[i], inbreeding);
    std::vector<double> p = {1};
    for (int k = 0; k < size / ploidy; ++k) p = convolved(p, individual);
    add_to_row(i, p, 1 / grid.inverse_weight[i], weights);
  }
  return weights;
}

std::vector<double> sample(const Density& density, const std::vector<SampleWeights>& weights) {
  const auto points = static_cast<std::size_t>(density.points());
  std::vector<double> now(density.data(), density.data() + density.size());
  std::size_t outer = density.size();
  std::size_t inner = 1;
  // Sample the populations from the last to the first. Each becomes the fastest index, so the first
  // population ends up fastest.
  for (std::size_t k = weights.size(); k-- > 0;) {
    const auto numbers = static_cast<std::size_t>(weights[k].size) + 1;
    outer /= points;
    std::vector<double> next(outer * inner * numbers);
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < points; ++i) {
        const double* const from = &now[(o * points + i) * inner];
        const double* const row = &weights[k].values[i * numbers];
        for (std::size_t j = 0; j < inner; ++j) {
          double* const to = &next[(o * inner + j) * numbers];
          for (std::size_t d = 0; d < numbers; ++d) to[d] += row[d] * from[j];
        }
      }
    }
    now = std::move(next);
    inner *= numbers;
  }
  return now;
}

std::vector<double> sample_admixed(const Density& density, const std::vector<int>& sizes,
                                   const std::vector<std::vector<double>>& shares,
                                   const TaskContext& context) {
  const Grid& grid = density.grid();
  std::size_t cells = 1;
  for (const int size : sizes) cells *= static_cast<std::size_t>(size) + 1;
  std::vector<double> spectrum(cells);
  std::array<std::vector<double>, kMostPopulations> p;
  std::vector<double> product;
  for (std::size_t i = 0; i < density.size(); ++i) {
    context.throw_if_stopped();
    std::array<double, kMostPopulations> x;
    double mass = density.data()[i];
    std::size_t rest = i;
    for (std::size_t k = sizes.size(); k-- > 0;) {
      const std::size_t at = rest % grid.x.size();
      rest /= grid.x.size();
      x[k] = grid.x[at];
      mass /= grid.inverse_weight[at];
    }
    product.assign(1, mass);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      double frequency = 0;
      for (std::size_t j = 0; j < sizes.size(); ++j) frequency += shares[k][j] * x[j];
      binomial_probabilities(sizes[k], frequency, p[k]);
      std::vector<double> wider;
      for (const double probability : p[k]) {
        for (const double before : product) wider.push_back(before * probability);
      }
      product = std::move(wider);
    }
    for (std::size_t cell = 0; cell < cells; ++cell) spectrum[cell] += product[cell];
  }
  return spectrum;
}

}  // namespace ancify::diffusion
