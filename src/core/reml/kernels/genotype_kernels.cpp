// K_g = sum_j w_jg z_j z_j' / c_g with c_g = sum_j w_jg v_j^(1 + scale_power) over variable
// variants, as in GCTA (scale_power -1; Yang and others 2011, AJHG 88:76) and VanRaden (0; 2008, J.
// Dairy Sci. 91:4414).
#include "core/reml/kernels/genotype_kernels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/genotypes/standardise.h"

namespace ancify::reml {

InputError no_variance(std::size_t component, const std::vector<std::string>& names) {
  const std::string name =
      component < names.size() ? "'" + names[component] + "'" : std::to_string(component + 1);
  return InputError("the component " + name + " has no variant that varies among these samples");
}

GenotypeKernels::GenotypeKernels(const GenotypeMatrix& matrix,
                                 const std::vector<ComponentWeight>& weights, int components,
                                 double scale_power, JobControl& control,
                                 const std::vector<std::string>& names)
    : matrix_(matrix),
      control_(control),
      products_(standardise(matrix, scale_power)),
      used_(static_cast<std::size_t>(components)),
      divisors_(static_cast<std::size_t>(components)),
      mean_diagonals_(static_cast<std::size_t>(components)) {
  const auto n = static_cast<double>(matrix.samples());
  first_.push_back(0);
  auto next = weights.begin();
  for (std::int64_t j = 0; j < matrix.variants(); ++j) {
    const VariantMoments& moments = matrix.moments()[static_cast<std::size_t>(j)];
    const double scale = products_.scales()[static_cast<std::size_t>(j)];
    if (scale == 0) ++constant_;
    for (; next != weights.end() && next->variant == j; ++next) {
      if (scale == 0 || next->weight == 0) continue;
      const auto g = static_cast<std::size_t>(next->component);
      ++used_[g];
      divisors_[g] += next->weight * moments.variance * scale * scale;
      mean_diagonals_[g] += next->weight * moments.observed * moments.variance * scale * scale;
      shares_.push_back({next->component, next->weight});
    }
    first_.push_back(static_cast<std::int64_t>(shares_.size()));
  }
  for (int g = 0; g < components; ++g) {
    const auto i = static_cast<std::size_t>(g);
    if (used_[i] == 0) throw no_variance(i, names);
    mean_diagonals_[i] /= n * divisors_[i];
  }
  for (auto& share : shares_) share.weight /= divisors_[static_cast<std::size_t>(share.component)];
}

double GenotypeKernels::coefficient(const double* theta, std::int64_t variant) const {
  double sum = 0;
  const auto j = static_cast<std::size_t>(variant);
  for (std::int64_t k = first_[j]; k < first_[j + 1]; ++k) {
    const Share& share = shares_[static_cast<std::size_t>(k)];
    sum += theta[share.component] * share.weight;
  }
  return sum;
}

bool GenotypeKernels::has_coefficient(const double* theta, std::int64_t block) const {
  const std::int64_t first = block * kBlockVariants;
  for (int j = 0; j < matrix_.variants_in(block); ++j) {
    if (coefficient(theta, first + j) != 0) return true;
  }
  return false;
}

void GenotypeKernels::times(const double* theta, const double* v, int columns, Precision precision,
                            double* out) {
  std::fill_n(out, matrix_.samples() * columns, 0.0);
  GenotypeProducts::Pass pass;
  pass.v = v;
  pass.columns = pass.out_columns = columns;
  pass.out = out;
  pass.bits = bits_of(precision);
  pass.wanted = [&](std::int64_t block) { return has_coefficient(theta, block); };
  std::atomic<std::int64_t> blocks{0};
  products_.run(control_, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
    for (int j = 0; j < block.variants(); ++j) {
      const double factor = coefficient(theta, block.first_variant() + j);
      for (int c = 0; c < columns; ++c) u[j * columns + c] = factor * t[j * columns + c];
    }
    ++blocks;
  });
  count_pass(static_cast<double>(blocks));
}

void GenotypeKernels::quadratic_forms(const double* a, const double* b, int columns,
                                      Precision precision, double* forms) {
  const std::int64_t n = matrix_.samples();
  const bool same = a == b;
  std::vector<double> both;
  if (!same) {
    both.assign(a, a + n * columns);
    both.insert(both.end(), b, b + n * columns);
  }
  GenotypeProducts::Pass pass;
  pass.v = same ? a : both.data();
  pass.columns = same ? columns : 2 * columns;
  pass.bits = bits_of(precision);
  pass.wanted = [](std::int64_t) { return true; };
  // Sums of a block, for the components present in it.
  struct BlockForms {
    std::vector<int> components;
    std::vector<double> sums;
  };
  std::vector<BlockForms> of_blocks(static_cast<std::size_t>(matrix_.blocks()));
  products_.run(control_, pass, [&](const GenotypeBlock& block, const double* t, double*) {
    BlockForms& own = of_blocks[static_cast<std::size_t>(block.number())];
    std::vector<int> place(used_.size(), -1);
    for (int j = 0; j < block.variants(); ++j) {
      const auto variant = static_cast<std::size_t>(block.first_variant() + j);
      const double* const row = t + static_cast<std::ptrdiff_t>(j) * pass.columns;
      for (std::int64_t k = first_[variant]; k < first_[variant + 1]; ++k) {
        const Share& share = shares_[static_cast<std::size_t>(k)];
        int& at = place[static_cast<std::size_t>(share.component)];
        if (at < 0) {
          at = static_cast<int>(own.components.size());
          own.components.push_back(share.component);
          own.sums.resize(own.sums.size() + static_cast<std::size_t>(columns));
        }
        double* const sums = own.sums.data() + static_cast<std::ptrdiff_t>(at) * columns;
        for (int c = 0; c < columns; ++c) {
          sums[c] += share.weight * row[c] * row[same ? c : columns + c];
        }
      }
    }
  });
  std::fill_n(forms, static_cast<std::ptrdiff_t>(columns) * components(), 0.0);
  for (const auto& own : of_blocks) {
    for (std::size_t k = 0; k < own.components.size(); ++k) {
      for (int c = 0; c < columns; ++c) {
        forms[own.components[k] * columns + c] +=
            own.sums[k * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)];
      }
    }
  }
  count_pass(static_cast<double>(matrix_.blocks()));
}

std::vector<double> GenotypeKernels::factors_of(int component) const {
  std::vector<double> theta(used_.size());
  theta[static_cast<std::size_t>(component)] = 1;
  std::vector<double> factors;
  for (std::int64_t j = 0; j < matrix_.variants(); ++j) {
    factors.push_back(coefficient(theta.data(), j));
  }
  return factors;
}

// A pass counts even if its kernel is kept, so that a fit's report does not depend on earlier jobs.
void GenotypeKernels::dense(int component, double* out) {
  count_pass(static_cast<double>(matrix_.blocks()));
  if (keeper_.kernels == nullptr) {
    products_.outer(control_, factors_of(component), out);
  } else if (const double* const kept = keeper_.kernels->find(*source_, component)) {
    std::copy_n(kept, samples() * samples(), out);
  } else {
    products_.outer(control_, factors_of(component), out);
    keeper_.kernels->keep(source_, component, out, keeper_.most_bytes);
  }
}

std::vector<double> GenotypeKernels::diagonal(int component) {
  std::vector<double> result = products_.squares(control_, factors_of(component));
  count_pass(static_cast<double>(matrix_.blocks()));
  return result;
}

}  // namespace ancify::reml
