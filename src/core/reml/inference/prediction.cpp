// Centres calls by the means of the fit's samples, so that a missing call adds nothing.
#include "core/reml/inference/prediction.h"

#include <cstddef>
#include <cstdint>

#include "core/genotypes/genotype_products.h"

namespace ancify::reml {

std::vector<double> genetic_values(const GenotypeMatrix& matrix, const std::vector<double>& means,
                                   const std::vector<double>& effects, JobControl& control) {
  std::vector<double> scales(effects.size());
  for (std::size_t j = 0; j < effects.size(); ++j) scales[j] = effects[j] == 0 ? 0 : 1;
  const GenotypeProducts products(matrix, means, scales);
  std::vector<double> values(static_cast<std::size_t>(matrix.samples()));
  GenotypeProducts::Pass pass;
  pass.out_columns = 1;
  pass.out = values.data();
  pass.bits = ProductBits::k56;
  pass.wanted = [](std::int64_t) { return true; };
  products.run(control, pass, [&](const GenotypeBlock& block, const double* /*t*/, double* u) {
    for (int j = 0; j < block.variants(); ++j) {
      u[j] = effects[static_cast<std::size_t>(block.first_variant() + j)];
    }
  });
  return values;
}

}  // namespace ancify::reml
