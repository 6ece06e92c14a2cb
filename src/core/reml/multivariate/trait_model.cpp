// Pairs of traits without a common sample.
#include "core/reml/multivariate/trait_model.h"

#include <algorithm>
#include <iterator>

namespace ancify::reml {

namespace {

bool have_common_sample(const Trait& one, const Trait& other) {
  std::vector<std::int64_t> common;
  std::set_intersection(one.rows.begin(), one.rows.end(), other.rows.begin(), other.rows.end(),
                        std::back_inserter(common));
  return !common.empty();
}

}  // namespace

std::vector<char> unknown_parameters(const std::vector<Trait>& traits, std::size_t components) {
  const std::size_t t = traits.size();
  std::vector<char> unknown((components - 1) * number_of_pairs(t), 0);
  for (const auto& [row, column] : trait_pairs(t)) {
    unknown.push_back(have_common_sample(traits[row], traits[column]) ? 0 : 1);
  }
  return unknown;
}

TraitModel::TraitModel(const std::vector<Trait>& traits, std::size_t components)
    : traits_(traits.size()),
      components_(components),
      unknown_(unknown_parameters(traits, components)) {}

}  // namespace ancify::reml
