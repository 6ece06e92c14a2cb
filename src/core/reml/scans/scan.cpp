// With P = H^-1 - H^-1 X (X'H^-1 X)^-1 X'H^-1, the effect of a column z besides X is
//   z'Py / z'Pz, with the variance 1 / z'Pz
// (generalised least squares). For large n, z'Pz is approximated by z'Sz times a constant, which
// varies little between variants (Svishcheva and others 2012, Nature Genetics 44, 1166).
#include "core/reml/scans/scan.h"

#include <algorithm>
#include <cstddef>

#include "core/genotypes/block_columns.h"
#include "core/genotypes/standardise.h"
#include "core/reml/inference/projection.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// Relative residual of solves; its error in z'Pz is quadratic.
constexpr double kRatioTolerance = 1e-5;

bool all_blocks(std::int64_t /*block*/) { return true; }

double centred_square(const GenotypeMatrix& matrix, std::int64_t variant) {
  const VariantMoments& moments = matrix.moments()[static_cast<std::size_t>(variant)];
  return moments.observed * moments.variance;
}

}  // namespace

GenotypeProducts centred_calls(const GenotypeMatrix& matrix) { return standardise(matrix, 0); }

VariantQuadraticForms quadratic_forms_off_effects(const GenotypeProducts& calls,
                                                  const FixedEffects& fixed, const Vector& v,
                                                  JobControl& control) {
  const GenotypeMatrix& matrix = calls.matrix();
  Vector columns = v;
  columns.insert(columns.end(), fixed.basis().begin(), fixed.basis().end());
  VariantQuadraticForms forms;
  forms.response.resize(static_cast<std::size_t>(matrix.variants()));
  forms.square = forms.response;
  GenotypeProducts::Pass pass;
  pass.v = columns.data();
  pass.columns = 1 + fixed.effects();
  pass.bits = ProductBits::k56;
  pass.wanted = all_blocks;
  calls.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* /*u*/) {
    for (int j = 0; j < block.variants(); ++j) {
      const std::int64_t variant = block.first_variant() + j;
      const double* const row = t + static_cast<std::ptrdiff_t>(j) * pass.columns;
      const double whole = centred_square(matrix, variant);
      double left = whole;
      for (int c = 1; c < pass.columns; ++c) left -= row[c] * row[c];
      forms.response[static_cast<std::size_t>(variant)] = row[0];
      forms.square[static_cast<std::size_t>(variant)] = left > kDependentSquare * whole ? left : 0;
    }
  });
  return forms;
}

Vector columns_of(const GenotypeProducts& calls, const std::vector<std::int64_t>& variants,
                  JobControl& control) {
  const std::int64_t n = calls.matrix().samples();
  Vector columns(area(n, static_cast<std::int64_t>(variants.size())));
  GenotypeProducts::Pass pass;
  pass.wanted = [&](std::int64_t block) {
    return std::any_of(variants.begin(), variants.end(),
                       [&](std::int64_t j) { return j / kBlockVariants == block; });
  };
  calls.run(control, pass, [&](const GenotypeBlock& block, const double* /*t*/, double* /*u*/) {
    const BlockColumns of_block(calls, block);
    for (std::size_t k = 0; k < variants.size(); ++k) {
      const std::int64_t j = variants[k] - block.first_variant();
      if (j < 0 || j >= block.variants()) continue;
      of_block.write(static_cast<int>(j), 0, n, &columns[area(n, static_cast<std::int64_t>(k))]);
    }
  });
  return columns;
}

Vector projection_ratios(const RestrictedModel& model, const Vector& theta, Vector columns,
                         std::uint64_t seed) {
  const std::int64_t n = model.samples();
  const int k = static_cast<int>(static_cast<std::int64_t>(columns.size()) / n);
  model.fixed.project(model.workers, k, columns.data());
  const Vector solved = SolvedProjection(model, theta, seed).times(columns, kRatioTolerance);
  Vector ratios(static_cast<std::size_t>(k));
  Vector whole(ratios.size());
  column_products(model.workers, n, k, columns.data(), solved.data(), ratios.data());
  column_products(model.workers, n, k, columns.data(), columns.data(), whole.data());
  for (std::size_t c = 0; c < ratios.size(); ++c) ratios[c] /= whole[c];
  return ratios;
}

}  // namespace ancify::reml
