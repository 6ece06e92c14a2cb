// Calling under the multispecies coalescent: posteriors summed over all gene trees of a history of
// splits and population sizes.
//
// The node called is the most recent common ancestor of the sampled focal haplotypes.
// focal_branch.h gives the number of their lineages at the focal species' first split. Beyond it,
// lineage_space.h sums over gene trees and mutations without approximation, except that it ignores
// counts of focal lineages with a probability below 1e-12 (1e-9 at polymorphic sites).
//
// At a polymorphic site the focal haplotypes' bases are data too. Exactly one mutation since their
// common ancestor made one allele from the other. The outgroups' lineages and the branch above the
// ancestor mutate freely. A second mutation in the focal genealogy is neglected; its probability is
// about the expected number of mutations there (0.0005 to 0.005 in most species). Nothing else
// about the sample is approximated: lineages coalesce as in Kingman (1982, Stoch. Proc. Appl.
// 13:235), and the copies that a few lineages leave in a sample follow a Polya urn. Thousands of
// haplotypes therefore cost no more than twenty. If the site is known to vary but the counts are
// unknown, these probabilities are summed over all counts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/ancestry/coalescent/history.h"
#include "core/ancestry/patterns/method.h"
#include "core/exec/job_control.h"

namespace ancify {

// Limits: more would take minutes and gigabytes.
constexpr int kMostCoalescentOutgroups = 6;
constexpr int kMostFocalLineages = 40;

// [pattern index]: the joint probability of the outgroups' pattern and each base of the ancestor.
// Indices are as in site_patterns.h.
using AncestorTable = std::vector<Posterior>;
// Throws InputError for an invalid history or one beyond the limits above; Interrupted if `control`
// stops it.
AncestorTable ancestor_table(const History& history, const MutationModel& model,
                             const JobControl& control);

// The calling method `coalescent`. The constructor throws like ancestor_table() and
// check_thresholds().
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

// The probabilities of the patterns of the outgroups and one focal haplotype, for fitting
// histories. Indices are as in site_patterns.h, with the focal species last. Neither the focal
// population's size nor the number of focal lineages affects them. Throws like ancestor_table().
std::vector<double> pattern_probabilities(const History& history, const MutationModel& model,
                                          const JobControl& control);

// The probabilities of the outgroups' pattern, one mutation among the focal haplotypes and the
// derived allele's count: [copies - 1][derived][ancestral][pattern]. Throws like ancestor_table().
std::vector<double> sample_probabilities(const History& history, const MutationModel& model,
                                         int haplotypes, const JobControl& control);

// A site that is polymorphic in the focal species.
struct PolymorphicSite {
  std::int64_t pattern;  // index of the outgroups' pattern
  int alleles[2];        // base codes
  int haplotypes;
  std::optional<int> copies;  // of the second allele; if unknown, both alleles are in the sample
  int neighbours = 0;         // its class, see neighbours.h
};

// A model of each class of neighbours, or one for all sites.
using MutationModels = std::vector<MutationModel>;

// The posterior of each site's ancestral base: the base of the focal haplotypes' common ancestor.
// All 0 if the site has probability 0 under the history. Throws InputError for an invalid history
// or site.
std::vector<Posterior> polarise(const History& history, const MutationModels& models,
                                const std::vector<PolymorphicSite>& sites,
                                const JobControl& control);

// Polarises one site after another. A cache, whose limits never affect the posteriors, stores
// results that sites with equal counts share.
class SitePolariser {
 public:
  // For samples of at most `most_haplotypes` haplotypes. `control` must outlive this.
  SitePolariser(const History& history, const MutationModels& models, int most_haplotypes,
                const JobControl& control);
  SitePolariser(const SitePolariser&) = delete;
  SitePolariser& operator=(const SitePolariser&) = delete;
  ~SitePolariser();
  int most_haplotypes() const { return most_haplotypes_; }
  // Does the slow work for the first polymorphic site; `control` can stop it. Afterwards any number
  // of threads may request posteriors at once.
  void prepare(const JobControl& control);
  Posterior posterior(const PolymorphicSite& site);

 private:
  class Impl;
  int most_haplotypes_;
  std::vector<std::unique_ptr<Impl>> impls_;  // of each model
};

}  // namespace ancify
