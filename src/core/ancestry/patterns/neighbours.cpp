// Finds classes by looking up which bases are common at each position.
#include "core/ancestry/patterns/neighbours.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/genome/bases.h"
#include "core/genome/packed.h"

namespace ancify {

namespace {

// Gives common_c_or_g() as the call, so that each pattern is evaluated once.
class CommonBases : public Method {
 public:
  explicit CommonBases(int species) : species_(species) {}
  int species() const override { return species_; }
  SiteCall call(const int* states) const override {
    return {static_cast<char>(common_c_or_g(states, species_)), {}};
  }

 private:
  int species_;
};

}  // namespace

int common_c_or_g(const int* states, int species) {
  int with_base = 0;
  int c = 0;
  int g = 0;
  for (int s = 0; s < species; ++s) {
    if (states[s] != kMissing) ++with_base;
    if (states[s] == base_code('C')) ++c;
    if (states[s] == base_code('G')) ++g;
  }
  if (with_base == 0) return 0;
  return (2 * g >= with_base ? 1 : 0) + (2 * c >= with_base ? 2 : 0);
}

NeighbourClasses::NeighbourClasses(int species)
    : common_(std::make_unique<CommonBases>(species), false) {}

std::vector<char> NeighbourClasses::sequence(const Stretch& stretch, SimdLevel level) const {
  const std::int64_t end = std::min(stretch.end + kNeighbourReach, stretch.chromosome_length);
  const auto held = static_cast<std::size_t>(end - stretch.first);
  // A position more on each side, for the chromosome's ends
  std::vector<char> common(held + 2, 0);
  common_.apply({stretch.species, stretch.form, held}, &common[1], nullptr, level);
  const char* const before = &common[static_cast<std::size_t>(stretch.start - stretch.first)];
  std::vector<char> bases(stretch.size());
  for (std::size_t i = 0; i < bases.size(); ++i) {
    bases[i] = upper_base(neighbour_class(before[i], before[i + 2]));
  }
  if (stretch.form == SequenceForm::kCharacters) return bases;
  std::vector<char> packed(packed_size(bases.size()));
  pack_bases(bases.data(), bases.size(), 0, packed.data(), level);
  return packed;
}

SitesInClasses::SitesInClasses(const NeighbourClasses& classes, const Stretch& stretch, int species,
                               SimdLevel level)
    : form_(stretch.form), n_(stretch.size()), classes_(classes.sequence(stretch, level)) {
  const auto held = static_cast<std::size_t>(stretch.start - stretch.first);
  for (int s = 0; s < species; ++s) {
    species_.push_back(stretch.species[s] + bytes_before(form_, held));
  }
  species_.push_back(classes_.data());
}

MethodByNeighbours::MethodByNeighbours(std::vector<std::unique_ptr<const Method>> methods)
    : methods_(std::move(methods)) {}

// A site always has a class, but a table has every pattern.
SiteCall MethodByNeighbours::call(const int* states) const {
  const int of_site = states[species() - 1];
  return methods_[static_cast<std::size_t>(of_site == kMissing ? 0 : of_site)]->call(states);
}

// Each method calls all patterns; the calls of its class are kept.
void MethodByNeighbours::call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                                    SiteCall* calls) const {
  const std::uint8_t* const classes =
      states + static_cast<std::size_t>(species() - 1) * kBatchSites;
  std::array<SiteCall, kBatchSites> of_class;
  for (std::size_t k = 0; k < methods_.size(); ++k) {
    const auto is_of_class = [&](std::size_t i) {
      return (classes[i] == kMissing ? 0 : classes[i]) == static_cast<int>(k);
    };
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) any = any || is_of_class(i);
    if (!any) continue;
    methods_[k]->call_batch(states, n, level, of_class.data());
    for (std::size_t i = 0; i < n; ++i) {
      if (is_of_class(i)) calls[i] = of_class[i];
    }
  }
}

}  // namespace ancify
