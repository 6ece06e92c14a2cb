// Means and scales of variants, block by block, as a first pass over the genotypes counts them.
#include "core/genotypes/standardise.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace ancify {

GenotypeProducts::GenotypeProducts(const GenotypeMatrix& matrix, std::vector<double> means,
                                   std::vector<double> scales)
    : matrix_(matrix),
      means_(std::move(means)),
      scales_(std::move(scales)),
      stored_means_(means_),
      stored_scales_(scales_),
      is_scaled_(static_cast<std::size_t>(matrix.blocks())) {
  if (matrix.is_read()) scale_blocks(0, matrix.blocks());
}

GenotypeProducts::GenotypeProducts(const GenotypeMatrix& matrix, double scale_power)
    : matrix_(matrix),
      scale_power_(scale_power),
      means_(static_cast<std::size_t>(matrix.variants())),
      scales_(means_),
      stored_means_(means_),
      stored_scales_(means_),
      is_scaled_(static_cast<std::size_t>(matrix.blocks())) {
  if (matrix.is_read()) scale_blocks(0, matrix.blocks());
}

void GenotypeProducts::scale_blocks(std::int64_t first, std::int64_t n) const {
  for (std::int64_t block = first; block < first + n; ++block) {
    char& is_scaled = is_scaled_[static_cast<std::size_t>(block)];
    if (!is_scaled) scale_block(block);
    is_scaled = 1;
  }
}

void GenotypeProducts::scale_block(std::int64_t block) const {
  const std::int64_t first = block * kBlockVariants;
  for (std::int64_t j = first; j < first + matrix_.variants_in(block); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (scale_power_) {
      const VariantMoments& moments = matrix_.moments()[at];
      means_[at] = moments.mean;
      scales_[at] = moments.variance > 0 ? std::pow(moments.variance, *scale_power_ / 2) : 0;
    }
    const bool is_dosage = matrix_.has_dosages(block);
    stored_means_[at] = is_dosage ? matrix_.unit(j) * (means_[at] - 1) : means_[at];
    stored_scales_[at] = is_dosage ? scales_[at] / matrix_.unit(j) : scales_[at];
  }
}

// Reads the genotypes if they have not been read.
void GenotypeProducts::scale_all(JobControl& control) const {
  matrix_.read(control);
  scale_blocks(0, matrix_.blocks());
}

void GenotypeProducts::for_each_stored_tile(JobControl& control,
                                            const GenotypeMatrix::Wanted& wanted,
                                            const GenotypeMatrix::UseStored& use,
                                            std::int64_t most_blocks) const {
  matrix_.for_each_stored_tile(
      control, wanted,
      [&](const StoredTile& tile) {
        scale_blocks(tile.first_block, static_cast<std::int64_t>(tile.blocks.size()));
        use(tile);
      },
      most_blocks);
}

GenotypeProducts standardise(const GenotypeMatrix& matrix, double scale_power) {
  return {matrix, scale_power};
}

}  // namespace ancify
