// Both halves of a product, for all variants.
#pragma once

#include <vector>

#include "core/genotypes/genotype_products.h"

namespace ancify {

struct Products {
  std::vector<double> t;
  std::vector<double> out;
};

// T = Z'V and Z diag(0, 1, ..., 6, 0, ...) T.
inline Products multiplied(const GenotypeProducts& products, const std::vector<double>& v,
                           int columns, ProductBits bits) {
  JobControl control;
  const GenotypeMatrix& matrix = products.matrix();
  Products result;
  result.t.resize(static_cast<std::size_t>(matrix.variants() * columns));
  result.out.resize(static_cast<std::size_t>(matrix.samples() * columns));
  GenotypeProducts::Pass pass;
  pass.v = v.data();
  pass.columns = pass.out_columns = columns;
  pass.out = result.out.data();
  pass.bits = bits;
  pass.wanted = [](std::int64_t) { return true; };
  products.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
    for (int j = 0; j < block.variants(); ++j) {
      const std::int64_t variant = block.first_variant() + j;
      for (int c = 0; c < columns; ++c) {
        result.t[static_cast<std::size_t>(variant * columns + c)] = t[j * columns + c];
        u[j * columns + c] = static_cast<double>(variant % 7) * t[j * columns + c];
      }
    }
  });
  return result;
}

}  // namespace ancify
