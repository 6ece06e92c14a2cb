// Converts kernels of genotypes from R, a class for each kind.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/genotype/heterozygote_calls.h"
#include "core/reml/kernels/admixture_kernels.h"
#include "core/reml/kernels/dominance_weights.h"
#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/kernels/weighted_kernels.h"
#include "rcpp_fields.h"
#include "rcpp_genotypes.h"
#include "rcpp_reml_kernels.h"

namespace reml = ancify::reml;

namespace {

// ---- Lists, one for each kind -------------------------------------------------------------------

// `blocks`: matrices. `component`: of each block, from 0. `divisors`: of each component; 0 for its
// mean diagonal.
struct WeightedFields {
  ChosenGenotypes genotypes;
  double scale_power;
  Rcpp::List blocks;
  Rcpp::IntegerVector component;
  std::vector<double> divisors;
};

// `shares`: n x ancestries.
struct AdmixtureFields {
  ChosenGenotypes genotypes;
  double scale_power;
  std::vector<double> shares;
};

// The kernel of genotypes within another kernel, and the dominance kernel.
struct GrmFields {
  ChosenGenotypes genotypes;
  double scale_power;
};

struct DominanceFields {
  ChosenGenotypes genotypes;
  double scale_power;
};

}  // namespace

template <>
struct Fields<WeightedFields> {
  using All = WeightedFields;
  static constexpr auto table =
      fields("WeightedKernel", field("genotypes", &All::genotypes, as_chosen),
             field("scale_power", &All::scale_power), field("blocks", &All::blocks),
             field("component", &All::component), field("divisors", &All::divisors));
};

template <>
struct Fields<AdmixtureFields> {
  using All = AdmixtureFields;
  static constexpr auto table =
      fields("AdmixtureKernel", field("genotypes", &All::genotypes, as_chosen),
             field("scale_power", &All::scale_power), field("shares", &All::shares));
};

template <>
struct Fields<GrmFields> {
  using All = GrmFields;
  static constexpr auto table = fields("GrmKernel", field("genotypes", &All::genotypes, as_chosen),
                                       field("scale_power", &All::scale_power));
};

template <>
struct Fields<DominanceFields> {
  using All = DominanceFields;
  static constexpr auto table =
      fields("DominanceKernel", field("genotypes", &All::genotypes, as_chosen),
             field("scale_power", &All::scale_power));
};

namespace {

using Names = std::vector<std::string>;

// The names of the components that have no facts yet.
Names later_names(const Names& names, const KernelFacts& facts) {
  const auto earlier = std::min(facts.divisors.size(), names.size());
  return {names.begin() + static_cast<std::ptrdiff_t>(earlier), names.end()};
}

// ---- Kernels ------------------------------------------------------------------------------------

// `List`: a struct with `genotypes`.
template <class List>
class KernelOfGenotypes : public OtherKernel {
 public:
  using Given = List;
  KernelOfGenotypes(Given given, std::int64_t /*samples*/) : given_(std::move(given)) {}
  std::int64_t variants() const override {
    return static_cast<std::int64_t>(given_.genotypes.selection.variants.size());
  }
  void take(const ancify::GenotypeWork& work) override { work_ = work; }

 protected:
  ancify::GenotypeMatrix& open_genotypes(ancify::JobControl& control) {
    const ChosenGenotypes& chosen = given_.genotypes;
    genotypes_ = std::make_unique<ancify::GenotypeMatrix>(chosen.open(control.inputs()),
                                                          chosen.selection, work_, control);
    return *genotypes_;
  }
  const Given& given() const { return given_; }

 private:
  Given given_;
  ancify::GenotypeWork work_;
  std::unique_ptr<ancify::GenotypeMatrix> genotypes_;
};

std::vector<reml::ComponentWeight> every_variant(std::int64_t n) {
  std::vector<reml::ComponentWeight> weights;
  for (std::int64_t j = 0; j < n; ++j) weights.push_back({j, 0, 1});
  return weights;
}

class WeightedKernel : public KernelOfGenotypes<WeightedFields> {
 public:
  WeightedKernel(const Given& list, std::int64_t samples) : KernelOfGenotypes(list, samples) {
    for (R_xlen_t b = 0; b < list.blocks.size(); ++b) {
      const SEXP block = list.blocks[b];
      blocks_.push_back({REAL(block), Rf_nrows(block), list.component[b]});
    }
  }
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    auto kernels = std::make_unique<reml::WeightedKernels>(open_genotypes(control), blocks_,
                                                           given().divisors, given().scale_power,
                                                           control, later_names(names, facts));
    for (int g = 0; g < kernels->components(); ++g) {
      facts.add(static_cast<double>(kernels->used_variants(g)),
                kernels->divisors()[static_cast<std::size_t>(g)]);
    }
    return kernels;
  }

 private:
  std::vector<reml::WeightBlock> blocks_;
};

class AdmixtureKernel : public KernelOfGenotypes<AdmixtureFields> {
 public:
  using KernelOfGenotypes::KernelOfGenotypes;
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    shared_ = std::make_unique<reml::GenotypeKernels>(
        open_genotypes(control), every_variant(variants()), 1, given().scale_power, control,
        later_names(names, facts));
    auto kernels =
        std::make_unique<reml::AdmixtureKernels>(*shared_, shared_->diagonal(0), given().shares);
    for (int a = 0; a < kernels->components(); ++a) facts.add(NA_REAL, NA_REAL);
    return kernels;
  }

 private:
  std::unique_ptr<reml::GenotypeKernels> shared_;
};

class GrmKernel : public KernelOfGenotypes<GrmFields> {
 public:
  using KernelOfGenotypes::KernelOfGenotypes;
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    auto kernels = std::make_unique<reml::GenotypeKernels>(
        open_genotypes(control), every_variant(variants()), 1, given().scale_power, control,
        later_names(names, facts));
    facts.add(NA_REAL, NA_REAL);
    return kernels;
  }
};

class DominanceKernel : public OtherKernel {
 public:
  using Given = DominanceFields;
  DominanceKernel(Given given, std::int64_t /*samples*/) : given_(std::move(given)) {
    for (const std::int64_t j : given_.genotypes.selection.variants) {
      selection_.variants.insert(selection_.variants.end(), {2 * j, 2 * j + 1});
    }
    selection_.samples = given_.genotypes.selection.samples;
  }
  std::int64_t variants() const override {
    return static_cast<std::int64_t>(selection_.variants.size());
  }
  void take(const ancify::GenotypeWork& work) override { work_ = work; }
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    genotypes_ = std::make_unique<ancify::GenotypeMatrix>(
        std::make_unique<ancify::HeterozygoteCalls>(given_.genotypes.open(control.inputs())),
        selection_, work_, control);
    weights_ = reml::dominance_weights(*genotypes_, given_.scale_power);
    auto kernels = std::make_unique<reml::WeightedKernels>(
        *genotypes_, weights_.blocks(), std::vector<double>{weights_.divisor}, 0, control,
        later_names(names, facts), std::int64_t{1} << 16, std::vector<double>{weights_.trace});
    facts.add(NA_REAL, NA_REAL);
    return kernels;
  }

 private:
  Given given_;
  ancify::GenotypeSelection selection_;
  ancify::GenotypeWork work_;
  std::unique_ptr<ancify::GenotypeMatrix> genotypes_;
  reml::DominanceWeights weights_;
};

}  // namespace

std::unique_ptr<OtherKernel> make_weighted_kernel(SEXP fields, std::int64_t samples) {
  return make_kernel<WeightedKernel>(fields, samples);
}

std::unique_ptr<OtherKernel> make_admixture_kernel(SEXP fields, std::int64_t samples) {
  return make_kernel<AdmixtureKernel>(fields, samples);
}

std::unique_ptr<OtherKernel> make_grm_kernel(SEXP fields, std::int64_t samples) {
  return make_kernel<GrmKernel>(fields, samples);
}

std::unique_ptr<OtherKernel> make_dominance_kernel(SEXP fields, std::int64_t samples) {
  return make_kernel<DominanceKernel>(fields, samples);
}
