// Products with standardised genotypes: T = Z'V and out += Z U, in one pass over the genotypes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/exec/job_control.h"
#include "core/genotypes/genotype_matrix.h"

namespace ancify {

// The precision of each column in a product: 28 or 56 bits relative to its largest magnitude.
enum class ProductBits { k28, k56 };

// A block of variants in a pass, as the caller sees it.
class GenotypeBlock {
 public:
  GenotypeBlock(std::int64_t number, const StoredBlock& stored)
      : number_(number), stored_(stored) {}
  std::int64_t number() const { return number_; }
  std::int64_t first_variant() const { return number_ * kBlockVariants; }
  int variants() const { return stored_.layout->variants(); }
  const StoredBlock& stored() const { return stored_; }

 private:
  std::int64_t number_;
  StoredBlock stored_;
};

class Stripes;

class GenotypeProducts {
 public:
  // z_j = scales[j] * (g_j - means[j]), and 0 for missing genotypes. A variant with scale 0 is left
  // out. `matrix` must outlive this.
  GenotypeProducts(const GenotypeMatrix& matrix, std::vector<double> means,
                   std::vector<double> scales);
  // Means of observed genotypes, and scales variance^(scale_power / 2), or 0 without variance. A
  // first pass over the genotypes computes those moments once it has counted the block.
  GenotypeProducts(const GenotypeMatrix& matrix, double scale_power);

  // Computes U of a block from T = Z'V; both have a row of `columns` for each variant of the block.
  // Called concurrently for several blocks.
  using Take = std::function<void(const GenotypeBlock&, const double* t, double* u)>;

  struct Pass {
    const double* v = nullptr;  // samples x columns, column by column
    int columns = 0;            // 0 for a pass without V
    int out_columns = 0;        // 0 for a pass without out; U has as many columns
    double* out = nullptr;      // samples x out_columns, to which Z U is added
    ProductBits bits = ProductBits::k28;
    std::function<bool(std::int64_t block)> wanted;
  };

  // Processes all wanted blocks. The result does not depend on threads, memory, vector instructions
  // or devices. InputError if V has a non-finite value; DeviceError if a device fails; Interrupted
  // if the job is stopped.
  void run(JobControl& control, const Pass& pass, const Take& take) const;

  // The n x n matrix sum_j factors[j] z_j z_j', over variants whose factor is not 0.
  void outer(JobControl& control, const std::vector<double>& factors, double* out) const;

  // z_j'Az_j of each variant, for a symmetric n x n matrix A. Only its lower triangle (by columns)
  // is read.
  std::vector<double> quadratic_forms(JobControl& control, const double* matrix) const;

  // sum_j factors[j] z_ij^2 of each sample i.
  std::vector<double> squares(JobControl& control, const std::vector<double>& factors) const;

  const GenotypeMatrix& matrix() const { return matrix_; }
  // Call it once the genotypes are read.
  const std::vector<double>& scales() const {
    scale_blocks(0, matrix_.blocks());
    return scales_;
  }
  // z_j = stored_scale * (s_j - stored_mean) for the stored dosages s_j of a block, see Dosage.
  double stored_mean(std::int64_t variant) const {
    return stored_means_[static_cast<std::size_t>(variant)];
  }
  double stored_scale(std::int64_t variant) const {
    return stored_scales_[static_cast<std::size_t>(variant)];
  }
  // z_j for the calls 0, 1, 2, and missing, in a block of calls.
  std::array<double, 4> values_of_calls(std::int64_t variant) const;

 private:
  void for_each_stored_tile(JobControl& control, const GenotypeMatrix::Wanted& wanted,
                            const GenotypeMatrix::UseStored& use,
                            std::int64_t most_blocks = 0) const;
  void scale_all(JobControl& control) const;
  void scale_blocks(std::int64_t first, std::int64_t n) const;
  void scale_block(std::int64_t block) const;
  void run_on_devices(JobControl& control, const Pass& pass, const Take& take,
                      DeviceGenotypes& genotypes) const;

  void add_outer_of_dosages(JobControl& control, const std::vector<double>& factors,
                            Stripes& sums) const;
  void add_forms_of_dosages(JobControl& control, Stripes& lower, std::vector<double>& forms) const;
  void add_squares_of_dosages(JobControl& control, const std::vector<double>& factors,
                              std::vector<double>& sums) const;

  const GenotypeMatrix& matrix_;
  std::optional<double> scale_power_;  // none for given means and scales
  // Of the scaled blocks.
  mutable std::vector<double> means_;
  mutable std::vector<double> scales_;
  // As genotypes are stored: the same for calls.
  mutable std::vector<double> stored_means_;
  mutable std::vector<double> stored_scales_;
  mutable std::vector<char> is_scaled_;
};

}  // namespace ancify
