// Classes of sites by neighbouring bases that may make the site the C or the G of a CpG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/pattern_calls.h"
#include "core/device/simd.h"
#include "core/genome/stretch.h"

namespace ancify {

// Class 1: the next base is G. Class 2: the previous one is C. Class 3: both. Class 0: neither.
constexpr int kNeighbourClasses = 4;

// Positions on each side of a site that its class depends on.
constexpr std::int64_t kNeighbourReach = 1;

// G (1) or C (2), whichever at least half of the species with a base have; the sum of both in a
// tie.
int common_c_or_g(const int* states, int species);

// The class of a site, from common_c_or_g() of the positions before and after it.
constexpr int neighbour_class(int before, int after) { return (before & 2) | (after & 1); }

// The class of the site at `position`. state(s, p): the base of species s at p, or kMissing.
template <class State>
int neighbour_class_at(std::size_t species, std::int64_t position, const State& state) {
  const auto common_at = [&](std::int64_t at) {
    std::vector<int> states;
    for (std::size_t s = 0; s < species; ++s) states.push_back(state(s, at));
    return common_c_or_g(states.data(), static_cast<int>(species));
  };
  return neighbour_class(common_at(position - 1), common_at(position + 1));
}

// Finds the classes of sites; thread-safe.
class NeighbourClasses {
 public:
  // By the first `species` of the sequences.
  explicit NeighbourClasses(int species);
  // The classes of a stretch as a sequence in its form, in which base A is class 0 and T is 3. The
  // stretch must hold kNeighbourReach more positions on each side. No bases lie
  // beyond a chromosome's ends.
  std::vector<char> sequence(const Stretch& stretch, SimdLevel level) const;

 private:
  PatternCalls common_;
};

// The sites of a stretch, with their classes as one more species.
class SitesInClasses {
 public:
  // `stretch` has `species` sequences, and must outlive this.
  SitesInClasses(const NeighbourClasses& classes, const Stretch& stretch, int species,
                 SimdLevel level);
  Sites sites() const { return {species_.data(), form_, n_}; }

 private:
  SequenceForm form_;
  std::size_t n_;
  std::vector<char> classes_;
  std::vector<const char*> species_;
};

// A method of each class, as one whose last species is the class.
class MethodByNeighbours : public Method {
 public:
  // `methods`: one for each class, all for the same species.
  explicit MethodByNeighbours(std::vector<std::unique_ptr<const Method>> methods);
  int species() const override { return methods_.front()->species() + 1; }
  SiteCall call(const int* states) const override;
  void call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                  SiteCall* calls) const override;

 private:
  std::vector<std::unique_ptr<const Method>> methods_;
};

}  // namespace ancify
