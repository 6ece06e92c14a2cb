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

TraitModel::TraitModel(const std::vector<Trait>& traits, std::size_t components)
    : traits_(traits.size()),
      components_(components),
      unknown_((components - 1) * number_of_pairs(traits.size()), 0) {
  for (const auto& [row, column] : trait_pairs(traits_)) {
    unknown_.push_back(have_common_sample(traits[row], traits[column]) ? 0 : 1);
  }
}

}  // namespace ancify::reml
