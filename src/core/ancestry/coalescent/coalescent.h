// Calling under the multispecies coalescent: posteriors summed over all gene trees that a history
// of splits and population sizes gives, not over the species tree alone.
//
// The node called is the most recent common ancestor of the focal species' sampled haplotypes. The
// sample's lineages come to the focal species' first split in a number that focal_branch.h gives;
// from there on lineage_space.h sums over gene trees and mutations without approximation (but for
// numbers of focal lineages of a probability below 1e-12, or 1e-9 at polymorphic sites).
//
// At a polymorphic site the focal haplotypes' bases are data too: exactly one mutation since their
// common ancestor made one allele from the other, while the outgroups' lineages and the branch
// above mutate freely. What is left out, a second mutation at the same site in the focal genealogy,
// has about its expected number of mutations (0.0005 to 0.005 in most species) as its probability.
// Given that, nothing about the sample is approximated: classes of lineages coalesce as Kingman's
// (1982, Stoch. Proc. Appl. 13:235), and how many copies a sample has of what few lineages carried
// is a Polya urn's, so that thousands of haplotypes cost no more than twenty.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/ancestry/coalescent/history.h"
#include "core/ancestry/patterns/method.h"
#include "core/exec/job_control.h"

namespace ancify {

// More would take minutes and gigabytes.
constexpr int kMostCoalescentOutgroups = 6;
constexpr int kMostFocalLineages = 40;

// Patterns of outgroups are numbers of base 5, the first outgroup counting fastest: see
// site_patterns.h. Each gives the probability of the pattern and of the ancestor's base.
using AncestorTable = std::vector<Posterior>;
AncestorTable ancestor_table(const History& history, const MutationModel& model,
                             const JobControl& control);

// `method: coalescent`
class CoalescentMethod : public Method {
 public:
  CoalescentMethod(const History& history, const MutationModel& model, const Thresholds& thresholds,
                   const JobControl& control = JobControl());
  int species() const override { return species_; }
  SiteCall call(const int* states) const override;

 private:
  int species_;
  Thresholds thresholds_;
  AncestorTable table_;
};

// What histories are fitted by: the probabilities of the patterns of the outgroups and the focal
// species, one haplotype: numbers
// of base 5 again, the focal species last. The focal population's size has no influence on them,
// nor has the number of focal lineages.
std::vector<double> pattern_probabilities(const History& history, const MutationModel& model,
                                          const JobControl& control);

// A site that is polymorphic in the focal species.
struct PolymorphicSite {
  std::int64_t pattern;  // of the outgroups
  int alleles[2];        // base codes
  int haplotypes;
  int copies;  // of the second allele
};

// The posterior of each site's ancestral base: of the focal haplotypes' common ancestor. All 0
// where the history gives the site no chance at all.
std::vector<Posterior> polarise(const History& history, const MutationModel& model,
                                const std::vector<PolymorphicSite>& sites,
                                const JobControl& control);

// The same of one site after the other. What sites of equal counts share is remembered, within
// limits that have no influence on what comes out.
class SitePolariser {
 public:
  // For samples of up to `most_haplotypes`. `control` has to stay.
  SitePolariser(const History& history, const MutationModel& model, int most_haplotypes,
                const JobControl& control);
  SitePolariser(const SitePolariser&) = delete;
  SitePolariser& operator=(const SitePolariser&) = delete;
  ~SitePolariser();
  int most_haplotypes() const { return most_haplotypes_; }
  Posterior posterior(const PolymorphicSite& site);

 private:
  class Impl;
  int most_haplotypes_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ancify
