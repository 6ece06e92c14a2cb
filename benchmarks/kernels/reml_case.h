// A kernel of genotypes in memory, and its products with columns.
#pragma once

#include <memory>
#include <vector>

#include "core/reml/kernels/genotype_kernels.h"
#include "genotypes.h"

namespace ancify::bench {

class RemlCase {
 public:
  // make(control) gives the genotypes.
  template <class Make>
  RemlCase(int columns, const Make& make) : matrix_(make(control_)) {
    std::vector<reml::ComponentWeight> weights;
    for (std::int64_t j = 0; j < matrix_->variants(); ++j) weights.push_back({j, 0, 1});
    kernels_ = std::make_unique<reml::GenotypeKernels>(*matrix_, weights, 1, -1, control_);
    for (std::int64_t i = 0; i < matrix_->samples() * columns; ++i) {
      v_.push_back(static_cast<double>(i * 7919 % 2003) / 1001.5 - 1);
    }
    out_.resize(v_.size());
  }
  void times(int columns) {
    const double theta = 1;
    kernels_->times(&theta, v_.data(), columns, reml::Precision::kProbes, out_.data());
  }

 private:
  JobControl control_;
  std::unique_ptr<GenotypeMatrix> matrix_;
  std::unique_ptr<reml::GenotypeKernels> kernels_;
  std::vector<double> v_;
  std::vector<double> out_;
};

}  // namespace ancify::bench
