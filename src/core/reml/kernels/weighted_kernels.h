// Kernels of dense blocks of weights: K_g = sum_b Z_b W_b Z_b' / c_g over the blocks b of g.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/genotypes/block_columns.h"
#include "core/genotypes/genotype_products.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/block_products.h"

namespace ancify::reml {

// A symmetric size x size matrix without negative eigenvalues, and its component, from 0.
struct WeightBlock {
  const double* values;
  std::int64_t size;
  int component;
};

class WeightedKernels : public Kernels {
 public:
  // Blocks tile the variants of `matrix`, in their order. Variants are standardised as for
  // GenotypeKernels. `divisors`: c_g; 0 for the sum's trace over n, which makes the mean diagonal
  // 1. InputError if the blocks do not tile the variants, or for a component without variance.
  // `traces`: tr(sum_b Z_b W_b Z_b') by component; if empty, they take one pass over the genotypes.
  // `variants_at_once`: at most this many are processed together, unless a block has more; it
  // affects the rounding of sums. `matrix`, `control` and the blocks' values must outlive this.
  WeightedKernels(const GenotypeMatrix& matrix, std::vector<WeightBlock> blocks,
                  std::vector<double> divisors, double scale_power, JobControl& control,
                  const std::vector<std::string>& names = {},
                  std::int64_t variants_at_once = std::int64_t{1} << 16,
                  std::vector<double> traces = {});

  std::int64_t samples() const override { return matrix_.samples(); }
  int components() const override { return static_cast<int>(divisors_.size()); }
  double mean_diagonal(int component) const override {
    return mean_diagonals_[static_cast<std::size_t>(component)];
  }
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override;
  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override;
  void dense(int component, double* out) override;
  double passes() const override { return passes_; }

  // c_g.
  const std::vector<double>& divisors() const { return divisors_; }
  // Variants with variance in a component.
  std::int64_t used_variants(int component) const {
    return used_[static_cast<std::size_t>(component)];
  }

 private:
  // Blocks whose variants are processed together.
  struct Segment {
    std::size_t first_block;
    std::size_t end_block;
    std::int64_t first_variant;
    std::int64_t variants;
    std::vector<bool> wanted;  // of each block of genotypes
  };

  std::vector<double> measure_traces();
  double trace_of_block(const WeightBlock& block, std::int64_t first_variant,
                        const std::deque<BlockColumns>& columns) const;
  void for_each_segment(const std::vector<bool>& wanted,
                        const std::function<void(const Segment&)>& use);
  GenotypeProducts::Pass pass_over(const Segment& segment, Precision precision) const;
  Panels first_half(const Segment& segment, const double* v, int columns, Precision precision);
  Panels weigh(const Segment& segment, const std::vector<double>& factors, int columns,
               const Panels& t);
  void second_half(const Segment& segment, const Panels& u, int columns, Precision precision,
                   double* out);

  const GenotypeMatrix& matrix_;
  JobControl& control_;
  std::int64_t variants_at_once_;
  GenotypeProducts products_;
  std::vector<WeightBlock> blocks_;
  std::vector<std::int64_t> first_variants_;  // of each block, and the end
  std::vector<double> divisors_;
  std::vector<std::int64_t> used_;
  std::vector<double> mean_diagonals_;
  double passes_ = 0;
};

}  // namespace ancify::reml
