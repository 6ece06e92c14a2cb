// The history of the focal species and its outgroups, and how bases mutate along it.
#pragma once

#include <array>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/genome/bases.h"

namespace ancify {

// [from][to]; rows sum to 0
using RateMatrix = std::array<std::array<double, kBases>, kBases>;

// Going back in time, population `from` joins `into`, whose size from then on is `size`.
struct PopulationJoin {
  double time;  // generations ago
  int from;
  int into;
  double size;  // diploid individuals
};

// Population 0 is the focal one, population i that of outgroup i - 1, which has one lineage.
struct History {
  double focal_size;
  int focal_lineages;  // sampled haplotypes; the node called is their most recent common ancestor
  std::vector<PopulationJoin> joins;  // one for each outgroup, in the order of time

  int outgroups() const { return static_cast<int>(joins.size()); }
  // When the focal population first meets another.
  double focal_split() const;
};

// A sample of more takes more memory and time than it can be worth.
constexpr int kMostHaplotypes = 1000000;

// InputError where it cannot be.
void check(const History& history);

struct MutationModel {
  RateMatrix rates;  // per generation
  Posterior frequencies;
  std::vector<RateClass> classes = {{1, 1}};
};

// mutation_rate: per site and generation, on average over sites and bases.
MutationModel mutation_model(const SubstitutionRates& rates, double mutation_rate);

RateMatrix scaled(const RateMatrix& rates, double factor);

}  // namespace ancify
