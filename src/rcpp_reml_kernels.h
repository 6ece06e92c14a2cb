// Kernels of a REML problem besides those of its genotypes.
#pragma once

#include <Rcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/genotypes/genotype_matrix.h"
#include "core/reml/kernels/kernels.h"
#include "rcpp_glue.h"

// What R shows of components, in their order; NA where a kernel has no such number.
struct KernelFacts {
  void add(double used, double divisor) {
    used_variants.push_back(used);
    divisors.push_back(divisor);
  }
  std::vector<double> used_variants;  // with variance
  std::vector<double> divisors;       // c
};

// One of a problem's `kernels`, which may have several components.
class OtherKernel {
 public:
  virtual ~OtherKernel() = default;
  // The number of variants whose genotypes it reads.
  virtual std::int64_t variants() const { return 0; }
  // How it reads them.
  virtual void take(const ancify::GenotypeWork& /*work*/) {}
  // On the job's thread; adds its facts. `names` are those of all components of the problem.
  // `control`, `mail` and this must outlive what it gives.
  virtual std::unique_ptr<ancify::reml::Kernels> open(const std::vector<std::string>& names,
                                                      ancify::JobControl& control, Mailbox& mail,
                                                      KernelFacts& facts) = 0;
};

// An n x n matrix, or a list whose `kind` is a row of the table in rcpp_reml_kernels.cpp. On R's
// thread.
std::unique_ptr<OtherKernel> as_other_kernel(const Rcpp::RObject& kernel, std::int64_t samples);
