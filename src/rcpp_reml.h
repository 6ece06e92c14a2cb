// Converts models of REML from R, and fits to R.
#pragma once

#include <Rcpp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/work.h"
#include "core/genotypes/genotype_matrix.h"
#include "core/reml/fit/fit.h"
#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/kernels/scaled_kernels.h"
#include "core/reml/stochastic/stochastic_fit.h"
#include "rcpp_fields.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"
#include "rcpp_reml_kernels.h"

// A `problem` of R, a list that kernel_problem() makes.
struct Problem {
  int threads() const { return work.backend.threads; }

  ancify::reml::FitData data;
  std::optional<ChosenGenotypes> genotypes;
  // The components built from genotypes. Variants and components count from 0.
  std::vector<ancify::reml::ComponentWeight> weights;
  int n_genetic = 0;
  // The sample in `genotypes` of each record of `data`, from 0; empty if both have equal samples.
  std::vector<std::int32_t> individuals;
  double scale_power = -1;
  // D of ScaledKernels; empty for plain kernels.
  std::vector<double> kernel_scales;
  ancify::reml::ScaledDiagonal scaled_diagonal = ancify::reml::ScaledDiagonal::kOwn;
  Rcpp::List kernels;  // the components after these, each for as_other_kernel()
  ancify::reml::StochasticSettings settings;
  ancify::Work work;                  // its memory is for packed genotypes
  ancify::reml::KernelKeeper keeper;  // of dense kernels that persist between jobs
};

Problem as_problem(const Rcpp::List& problem);

// A matrix with this many rows.
Rcpp::NumericMatrix as_matrix(const std::vector<double>& values, std::size_t rows);

// The points of a search as a data frame, with theta's columns by component.
Rcpp::List iterations_table(const std::vector<ancify::reml::Iteration>& iterations,
                            const std::vector<std::string>& names);

ancify::GenotypeWork as_genotype_work(const ancify::Work& work);

// The kernels of a problem, which must outlive them.
class ProblemKernels {
 public:
  // Call it on R's thread.
  explicit ProblemKernels(const Problem& problem);
  // run_job() that delivers mail(), which takes calls of R functions for products. Call it on R's
  // thread.
  void run(const Rcpp::Function& watch, const std::function<void(ancify::JobControl&)>& job) {
    run_job(watch, job, &mail_);
  }
  Mailbox& mail() { return mail_; }
  // The time of reading genotypes. With kByProducts, the first product may read them, and
  // add_facts() has no facts about them.
  enum class Reading { kNow, kByProducts };
  // Call it on the thread of run(). `control` and this object must outlive the result.
  ancify::reml::Kernels& open(ancify::JobControl& control, Reading reading = Reading::kNow);
  // For the components built from genotypes alone. The first pass reads them; kept kernels take no
  // pass.
  ancify::reml::GenotypeKernels open_genetic(ancify::JobControl& control);
  // Adds constant_variants and, for each component, used_variants and divisors, which are NA where
  // a kernel has none. Call it on R's thread.
  void add_facts(Rcpp::List& result) const;

 private:
  void share_memory();

  const Problem& problem_;
  ancify::GenotypeWork work_;
  Mailbox mail_;
  std::vector<std::unique_ptr<OtherKernel>> others_;
  std::unique_ptr<ancify::GenotypeMatrix> genotypes_;
  KernelFacts facts_;
  double constant_variants_ = 0;
  std::unique_ptr<ancify::reml::Kernels> kernels_;
};

// A kernel on the complement of the fixed effects, a tridiagonal matrix, as a fit keeps it.
struct KernelForm {
  std::vector<double> diagonal;
  std::vector<double> off_diagonal;
};

template <>
struct Fields<KernelForm> {
  static constexpr auto table =
      state_fields("KernelForm", state_field("diagonal", &KernelForm::diagonal),
                   state_field("off_diagonal", &KernelForm::off_diagonal));
};

// The list that exact and stochastic fits return to R; run_reml() adds names. `names` are the names
// of genetic components.
Rcpp::List as_list(const ancify::reml::Fit& fit, const std::vector<std::string>& names);
