// Converts models of REML from R, and fits to R.
#pragma once

#include <Rcpp.h>

#include <memory>
#include <vector>

#include "core/genotypes/genotype_matrix.h"
#include "core/reml/fit/fit.h"
#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/kernels/kernels.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"
#include "rcpp_reml_kernels.h"

// A `problem` is a list as core_problem(), core_control() and path_settings() of R make it:
//   y (n numbers), x (n x p), names (of components, may be absent), residual_shares (n x residuals,
//     NULL or absent for one residual I)
//   genotypes: a list for as_chosen(), or NULL
//   weights = list(variant =, component =, weight =), n_genetic =, scale_power =: the components
//     that genotypes make; variants and components from 0
//   kernels: the components after these, each as for as_other_kernel()
//   control = list(start = NULL or theta, lower = with NA for the core's choice, information =,
//     tolerance =, max_iterations =, ...)
//   work: with the bytes for packed genotypes as its memory
//   kept = list(kernels = from new_kept_kernels_impl(), bytes =): workspace for dense kernels that
//     persist; may be absent

// A matrix with this many rows.
Rcpp::NumericMatrix as_matrix(const std::vector<double>& values, std::size_t rows);

ancify::reml::FitData as_fit_data(const Rcpp::List& problem);

ancify::reml::SearchSettings as_search_settings(const Rcpp::List& problem);

ancify::GenotypeWork as_genotype_work(const Rcpp::List& work);

// The kernels of a problem.
class ProblemKernels {
 public:
  // Call it on R's thread.
  explicit ProblemKernels(const Rcpp::List& problem);
  // Call it on the job's thread. `mail` takes calls of R functions for products. `control`, `mail`
  // and this object must outlive the result.
  ancify::reml::Kernels& open(ancify::JobControl& control, Mailbox& mail);
  // Like open(), for only the components that genotypes make.
  ancify::reml::GenotypeKernels open_genetic(ancify::JobControl& control);
  // Adds constant_variants and, for each component, used_variants and divisors, which are NA where
  // a kernel has none. Call it on R's thread.
  void add_facts(Rcpp::List& result) const;

 private:
  void share_memory();

  std::vector<std::string> names_;
  std::unique_ptr<ChosenGenotypes> chosen_;
  ancify::reml::KernelKeeper keeper_;
  ancify::GenotypeWork work_;
  std::vector<ancify::reml::ComponentWeight> weights_;
  int n_genetic_ = 0;
  double scale_power_ = -1;
  std::vector<std::unique_ptr<OtherKernel>> others_;
  std::unique_ptr<ancify::GenotypeMatrix> genotypes_;
  KernelFacts facts_;
  double constant_variants_ = 0;
  std::unique_ptr<ancify::reml::Kernels> kernels_;
};

// The list that exact and stochastic fits return to R; run_reml() adds names. `names` are the names
// of genetic components.
Rcpp::List as_list(const ancify::reml::Fit& fit, const std::vector<std::string>& names);
