// The history of the focal species and its outgroups, and the mutation model along it.
#pragma once

#include <array>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/genome/bases.h"

namespace ancify {

// Rates of change, [from][to]; rows sum to 0.
using RateMatrix = std::array<std::array<double, kBases>, kBases>;

// Backward in time, population `from` joins population `into`, which has size `size` from then on.
struct PopulationJoin {
  double time;  // generations ago
  int from;
  int into;
  double size;  // diploid individuals
};

// From this time on, back in time, the focal population has this size.
struct SizeChange {
  double time;  // generations ago
  double size;  // diploid individuals
};

// A period in which a population's size is constant.
struct SizeEpoch {
  double size;
  double generations;  // its length
};

// Population 0 is the focal one; population i belongs to outgroup i - 1, with one lineage.
struct History {
  double focal_size;   // at present
  int focal_lineages;  // sampled haplotypes; the node called is their most recent common ancestor
  std::vector<PopulationJoin> joins;           // one for each outgroup, the most recent first
  std::vector<SizeChange> focal_changes = {};  // before the first split, the most recent first

  int outgroups() const { return static_cast<int>(joins.size()); }
  // Time of the focal population's first split, generations ago.
  double focal_split() const;
  // The focal population's sizes up to its first split, back in time.
  std::vector<SizeEpoch> focal_epochs() const;
};

// The most haplotypes of a sample: more would cost memory and time for no gain.
constexpr int kMostHaplotypes = 1000000;

// Throws InputError unless sizes and times are positive, joins and changes are ordered by time, and
// each outgroup joins once.
void check(const History& history);

// Mutation rates of a site of rate 1, equilibrium frequencies, and rate classes among sites.
struct MutationModel {
  RateMatrix rates;  // per generation
  Posterior frequencies;
  std::vector<RateClass> classes = {{1, 1}};
};

// `mutation_rate` is per site and generation, averaged over sites and bases. Throws InputError for
// values out of range.
MutationModel mutation_model(const SubstitutionRates& rates, double mutation_rate);

// All rates times `factor`.
RateMatrix scaled(const RateMatrix& rates, double factor);

}  // namespace ancify
