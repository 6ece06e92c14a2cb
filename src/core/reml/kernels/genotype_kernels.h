// Kernels of components of variants: K_g = sum_j w_jg z_j z_j' / c_g.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/exec/job_control.h"
#include "core/genotypes/genotype_products.h"
#include "core/reml/kernels/kept_kernels.h"
#include "core/reml/kernels/kernels.h"

namespace ancify::reml {

inline ProductBits bits_of(Precision precision) {
  return precision == Precision::kFull ? ProductBits::k56 : ProductBits::k28;
}

// The error for a component whose variants do not vary. The component may be unnamed.
InputError no_variance(std::size_t component, const std::vector<std::string>& names);

class GenotypeKernels : public Kernels {
 public:
  // Standardises variants: z_j = (g_j - mu_j) v_j^(scale_power / 2), with mean and population
  // variance over observed calls. `weights` are ordered by variant. A variant without a call or
  // variance is left out. InputError for a component without other variants, with its name from
  // `names` if given: at once if the genotypes have been read, else from read() or the first
  // product. `matrix` and `control` must outlive this.
  GenotypeKernels(const GenotypeMatrix& matrix, const std::vector<ComponentWeight>& weights,
                  int components, double scale_power, JobControl& control,
                  std::vector<std::string> names = {});

  // Reads the genotypes if they have not been read. The values below are known then, or after the
  // first product.
  void read();

  std::int64_t samples() const override { return matrix_.samples(); }
  int components() const override { return components_; }
  double mean_diagonal(int component) const override {
    return mean_diagonals_[static_cast<std::size_t>(component)];
  }
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  double passes() const override { return passes_; }

  // Dense kernels are looked up and kept in `keeper`, under `source`.
  void keep_in(const KernelKeeper& keeper, KernelSource source) {
    keeper_ = keeper;
    source_ = std::make_shared<const KernelSource>(std::move(source));
  }

  // Takes one pass.
  std::vector<double> diagonal(int component) override;
  // c_g.
  double divisor(int component) const { return divisors_[static_cast<std::size_t>(component)]; }
  // Variants with variance in a component.
  std::int64_t used_variants(int component) const {
    return used_[static_cast<std::size_t>(component)];
  }
  // Variants without a call or variance.
  std::int64_t constant_variants() const { return constant_; }

 private:
  struct Share {
    int component;
    double weight;
  };

  // Computes the properties of all variants, which have been read.
  void find_facts();
  // The only component whose theta is not 0, if there is one.
  std::optional<int> only_component(const double* theta) const;
  // sum_g theta_g w_jg / c_g.
  double coefficient(const double* theta, std::int64_t variant) const;
  // w_jg.
  double weight(int component, std::int64_t variant) const;
  // w_jg / c_g of all variants.
  std::vector<double> factors_of(int component);
  using Coefficient = std::function<double(std::int64_t variant)>;
  // Adds sum_j coefficient_j z_j z_j' v to `out`.
  void add_products(const Coefficient& coefficient, const double* v, int columns,
                    Precision precision, double* out);
  void count_pass(double blocks) { passes_ += blocks / static_cast<double>(matrix_.blocks()); }

  const GenotypeMatrix& matrix_;
  JobControl& control_;
  GenotypeProducts products_;
  int components_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> first_;  // of each variant in shares_, and the end
  std::vector<Share> shares_;        // weights that are not 0
  // Properties, empty until they are computed.
  std::vector<std::int64_t> used_;
  std::vector<double> divisors_;
  std::vector<double> mean_diagonals_;
  std::int64_t constant_ = 0;
  double passes_ = 0;
  KernelKeeper keeper_;
  std::shared_ptr<const KernelSource> source_;
};

}  // namespace ancify::reml
