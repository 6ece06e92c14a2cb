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
                                 std::vector<std::string> names)
    : matrix_(matrix),
      control_(control),
      products_(standardise(matrix, scale_power)),
      components_(components),
      names_(std::move(names)) {
  auto next = weights.begin();
  for (std::int64_t j = 0; j < matrix.variants(); ++j) {
    first_.push_back(static_cast<std::int64_t>(shares_.size()));
    for (; next != weights.end() && next->variant == j; ++next) {
      if (next->weight != 0) shares_.push_back({next->component, next->weight});
    }
  }
  first_.push_back(static_cast<std::int64_t>(shares_.size()));
  if (matrix.is_read()) find_facts();
}

void GenotypeKernels::read() {
  matrix_.read(control_);
  find_facts();
}

void GenotypeKernels::find_facts() {
  if (!used_.empty()) return;
  const auto components = static_cast<std::size_t>(components_);
  std::vector<std::int64_t> used(components);
  divisors_.assign(components, 0);
  mean_diagonals_.assign(components, 0);
  constant_ = 0;
  const auto n = static_cast<double>(matrix_.samples());
  const std::vector<double>& scales = products_.scales();
  for (std::size_t j = 0; j < scales.size(); ++j) {
    if (scales[j] == 0) {
      ++constant_;
      continue;
    }
    const VariantMoments& moments = matrix_.moments()[j];
    for (std::int64_t k = first_[j]; k < first_[j + 1]; ++k) {
      const Share& share = shares_[static_cast<std::size_t>(k)];
      const auto g = static_cast<std::size_t>(share.component);
      ++used[g];
      divisors_[g] += share.weight * moments.variance * scales[j] * scales[j];
      mean_diagonals_[g] +=
          share.weight * moments.observed * moments.variance * scales[j] * scales[j];
    }
  }
  for (std::size_t g = 0; g < components; ++g) {
    if (used[g] == 0) throw no_variance(g, names_);
    mean_diagonals_[g] /= n * divisors_[g];
  }
  used_ = std::move(used);
}

double GenotypeKernels::coefficient(const double* theta, std::int64_t variant) const {
  double sum = 0;
  const auto j = static_cast<std::size_t>(variant);
  for (std::int64_t k = first_[j]; k < first_[j + 1]; ++k) {
    const Share& share = shares_[static_cast<std::size_t>(k)];
    sum += theta[share.component] * (share.weight / divisor(share.component));
  }
  return sum;
}

double GenotypeKernels::weight(int component, std::int64_t variant) const {
  double sum = 0;
  const auto j = static_cast<std::size_t>(variant);
  for (std::int64_t k = first_[j]; k < first_[j + 1]; ++k) {
    const Share& share = shares_[static_cast<std::size_t>(k)];
    if (share.component == component) sum += share.weight;
  }
  return sum;
}

std::optional<int> GenotypeKernels::only_component(const double* theta) const {
  const auto is_wanted = [](double x) { return x != 0; };
  const double* const end = theta + components_;
  const double* const first = std::find_if(theta, end, is_wanted);
  if (first == end || std::any_of(first + 1, end, is_wanted)) return std::nullopt;
  return static_cast<int>(first - theta);
}

// One component's coefficients are its weights, and its product is multiplied by theta_g / c_g at
// the end. So the first pass over genotypes can give the product: it knows c_g only when it ends.
void GenotypeKernels::times(const double* theta, const double* v, int columns, Precision precision,
                            double* out) {
  const std::int64_t size = matrix_.samples() * columns;
  std::fill_n(out, size, 0.0);
  const std::optional<int> only = only_component(theta);
  if (!only) {
    read();
    return add_products([&](std::int64_t j) { return coefficient(theta, j); }, v, columns,
                        precision, out);
  }
  add_products([&](std::int64_t j) { return weight(*only, j); }, v, columns, precision, out);
  find_facts();
  const double factor = theta[*only] / divisor(*only);
  for (std::int64_t i = 0; i < size; ++i) out[i] *= factor;
}

void GenotypeKernels::add_products(const Coefficient& coefficient, const double* v, int columns,
                                   Precision precision, double* out) {
  GenotypeProducts::Pass pass;
  pass.v = v;
  pass.columns = pass.out_columns = columns;
  pass.out = out;
  pass.bits = bits_of(precision);
  pass.wanted = [&](std::int64_t block) {
    const std::int64_t first = block * kBlockVariants;
    for (int j = 0; j < matrix_.variants_in(block); ++j) {
      if (coefficient(first + j) != 0) return true;
    }
    return false;
  };
  std::atomic<std::int64_t> blocks{0};
  products_.run(control_, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
    for (int j = 0; j < block.variants(); ++j) {
      const double factor = coefficient(block.first_variant() + j);
      for (int c = 0; c < columns; ++c) u[j * columns + c] = factor * t[j * columns + c];
    }
    ++blocks;
  });
  count_pass(static_cast<double>(blocks));
}

void GenotypeKernels::quadratic_forms(const double* a, const double* b, int columns,
                                      Precision precision, double* forms) {
  read();
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
    std::vector<int> place(static_cast<std::size_t>(components_), -1);
    for (int j = 0; j < block.variants(); ++j) {
      const auto variant = static_cast<std::size_t>(block.first_variant() + j);
      const double* const row = t + static_cast<std::ptrdiff_t>(j) * pass.columns;
      for (std::int64_t k = first_[variant]; k < first_[variant + 1]; ++k) {
        const Share& share = shares_[static_cast<std::size_t>(k)];
        const double weight = share.weight / divisor(share.component);
        int& at = place[static_cast<std::size_t>(share.component)];
        if (at < 0) {
          at = static_cast<int>(own.components.size());
          own.components.push_back(share.component);
          own.sums.resize(own.sums.size() + static_cast<std::size_t>(columns));
        }
        double* const sums = own.sums.data() + static_cast<std::ptrdiff_t>(at) * columns;
        for (int c = 0; c < columns; ++c) {
          sums[c] += weight * row[c] * row[same ? c : columns + c];
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

std::vector<double> GenotypeKernels::factors_of(int component) {
  read();
  std::vector<double> theta(static_cast<std::size_t>(components_));
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
