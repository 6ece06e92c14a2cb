// The standardised columns of a block's variants, one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/genotypes/genotype_products.h"

namespace ancify {

class BlockColumns {
 public:
  // `products` must outlive this, but not `block`.
  BlockColumns(const GenotypeProducts& products, const GenotypeBlock& block);
  std::int64_t first_variant() const { return first_variant_; }
  int variants() const { return variants_; }
  // z[i * step] = the value of a variant of the block in sample first + i, for n samples.
  void write(int variant, std::int64_t first, std::int64_t n, double* z,
             std::int64_t step = 1) const;

 private:
  void write_dosages(int variant, std::int64_t first, std::int64_t n, double* z,
                     std::int64_t step) const;

  const GenotypeProducts& products_;
  std::int64_t first_variant_;
  int variants_;
  std::int64_t stride_;
  std::vector<std::uint8_t> calls_;  // quads; empty for a block of dosages
  std::vector<Dosage> dosages_;
};

}  // namespace ancify
