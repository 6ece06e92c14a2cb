// Correlations by pairs of traits, and the basis of each trait's X in the rows of its values.
#include "core/reml/trait_probes/whitened_traits.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numerics/symmetric_eigen.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// The least eigenvalue of the trait correlations used for whitening.
constexpr double kLeastCorrelation = 1e-3;
}  // namespace

// The covariance of the traits beyond their fixed effects, from samples with both.
Vector phenotypic_covariance(const std::vector<Trait>& traits, std::size_t samples) {
  const std::size_t t = traits.size();
  std::vector<Vector> left;
  for (const Trait& trait : traits) {
    Vector rotated = trait.contrasts.rotate(trait.y);
    std::fill_n(rotated.begin(), trait.contrasts.effects(), 0.0);
    const Vector values = trait.contrasts.rotate_back(std::move(rotated));
    Vector column(samples, std::nan(""));
    for (std::size_t i = 0; i < values.size(); ++i) {
      column[static_cast<std::size_t>(trait.rows[i])] = values[i];
    }
    left.push_back(std::move(column));
  }
  Vector correlation(t * t);
  for (const auto& [row, column] : trait_pairs(t)) {
    double both = 0;
    double rows = 0;
    double columns = 0;
    for (std::size_t s = 0; s < samples; ++s) {
      const double one = left[row][s];
      const double other = left[column][s];
      if (std::isnan(one) || std::isnan(other)) continue;
      both += one * other;
      rows += one * one;
      columns += other * other;
    }
    const bool known = rows > 0 && columns > 0;
    correlation[column * t + row] = correlation[row * t + column] =
        row == column ? 1 : (known ? both / std::sqrt(rows * columns) : 0);
  }
  // Correlations from different samples may contradict each other.
  const double least = symmetric_eigenpairs(t, correlation).values.back();
  const double share = least < kLeastCorrelation ? (kLeastCorrelation - least) / (1 - least) : 0;
  for (std::size_t j = 0; j < t; ++j) {
    for (std::size_t i = 0; i < t; ++i) {
      correlation[j * t + i] *=
          (i == j ? 1 : 1 - share) * std::sqrt(traits[i].variance * traits[j].variance);
    }
  }
  return correlation;
}

// The whitened traits as one response, with a basis of all fixed effects.
FitData whitened_data(const TraitStudy& study, const TraitValues& values,
                      const std::vector<std::string>& names) {
  FitData data;
  for (const Trait& trait : study.traits()) {
    data.y.insert(data.y.end(), trait.y.begin(), trait.y.end());
  }
  std::size_t before = 0;
  for (const Trait& trait : study.traits()) {
    for (int j = 0; j < trait.contrasts.effects(); ++j) {
      Vector unit(trait.y.size());
      unit[static_cast<std::size_t>(j)] = 1;
      const Vector column = trait.contrasts.rotate_back(std::move(unit));
      data.x.resize(data.x.size() + data.y.size());
      std::copy(column.begin(), column.end(),
                data.x.end() - static_cast<std::ptrdiff_t>(data.y.size() - before));
    }
    before += trait.y.size();
  }
  const auto effects = static_cast<int>(data.x.size() / data.y.size());
  values.whiten(data.y.data(), 1);
  values.whiten(data.x.data(), effects);
  for (std::size_t g = 0; g <= names.size(); ++g) {
    for (std::size_t i = 0; i < number_of_pairs(study.traits().size()); ++i) {
      data.names.push_back(g < names.size() ? names[g] : "residual");
    }
  }
  return data;
}

}  // namespace ancify::reml
