// Kernels of a REML problem other than the kernels of its genotypes.
#pragma once

#include <Rcpp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/genotypes/genotype_matrix.h"
#include "core/reml/kernels/kernels.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

// Facts about components for R, in their order; NA where a kernel has none.
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
  // Sets the threads, memory and devices for reading them.
  virtual void take(const ancify::GenotypeWork& /*work*/) {}
  // Call it on the job's thread. Adds the kernel's facts. `names` are the names of all components
  // of the problem. `control`, `mail` and this object must outlive the result.
  virtual std::unique_ptr<ancify::reml::Kernels> open(const std::vector<std::string>& names,
                                                      ancify::JobControl& control, Mailbox& mail,
                                                      KernelFacts& facts) = 0;
};

using MakeKernel = std::unique_ptr<OtherKernel> (*)(SEXP fields, std::int64_t samples);

template <class Kernel>
std::unique_ptr<OtherKernel> make_kernel(SEXP fields, std::int64_t samples) {
  return std::make_unique<Kernel>(from_list<typename Kernel::Given>(fields), samples);
}

// Of genotypes.
std::unique_ptr<OtherKernel> make_weighted_kernel(SEXP fields, std::int64_t samples);
std::unique_ptr<OtherKernel> make_admixture_kernel(SEXP fields, std::int64_t samples);
std::unique_ptr<OtherKernel> make_grm_kernel(SEXP fields, std::int64_t samples);
std::unique_ptr<OtherKernel> make_dominance_kernel(SEXP fields, std::int64_t samples);
// Of other kernels.
std::unique_ptr<OtherKernel> make_records_kernel(SEXP fields, std::int64_t samples);
std::unique_ptr<OtherKernel> make_interaction_kernel(SEXP fields, std::int64_t samples);
std::unique_ptr<OtherKernel> make_blocks_kernel(SEXP fields, std::int64_t samples);
std::unique_ptr<OtherKernel> make_product_of_kernels(SEXP fields, std::int64_t samples);

// An error of R if a kernel's list has fewer or more values than samples. Call it on R's thread.
void check_one_for_each_sample(std::size_t values, std::int64_t samples);

// Takes a list from kernel_for_core() of R. Call it on R's thread.
std::unique_ptr<OtherKernel> as_other_kernel(SEXP kernel, std::int64_t samples);
