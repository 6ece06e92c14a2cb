// A run's sites that are known to vary in the focal species, and their calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/patterns/method.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"
#include "core/genome/stretch.h"

namespace ancify {

// The parts of variant files to read.
struct KnownSitesFiles {
  std::vector<std::string> paths;        // a chromosome's records are in one file
  std::vector<std::string> samples;      // whose alleles are counted; all if there are none
  std::vector<std::string> chromosomes;  // names in the run, with or without a leading chr
};

class KnownSites {
 public:
  // Reads the sites of all records that site_of_record() has and exclusion_of_info() does not
  // exclude. Positions with several such records are left out. Says in the log what is known.
  // InputError if two files have a chromosome. Throws like VariantReader, CountedSamples,
  // SitePolariser and check_thresholds().
  KnownSites(const KnownSitesFiles& files, const History& history, const MutationModels& models,
             const Thresholds& thresholds, JobControl& control);

  // InputError if a site is beyond the chromosome's end.
  void check(const Chromosome& chromosome) const;
  // True if a stretch of the chromosome has such sites.
  bool any_in(const std::string& chromosome, const Stretch& stretch) const;
  // Calls them anew, where an outgroup has a base. `phred` may be null. With a model of each class
  // of neighbours the stretch must hold kNeighbourReach more positions on each side.
  void call(const std::string& chromosome, const Stretch& stretch, char* calls,
            std::uint8_t* phred) const;

 private:
  // Small, as a genome has many.
  struct Site {
    std::int64_t position : 48;  // from 0
    std::int64_t first : 8;      // base codes
    std::int64_t second : 8;
    int haplotypes;
    int copies;  // of the second allele; kUnknown
  };
  static constexpr int kUnknown = -1;
  using Sites = std::vector<Site>;
  struct Known {
    std::string path;
    Sites sites;  // in ascending order
  };

  void read(const std::string& path, const KnownSitesFiles& files, const History& history,
            JobControl& control);
  const Known* known_of(const std::string& chromosome) const;
  SiteCall call_of(const PolymorphicSite& site) const;

  std::size_t species_;
  bool in_classes_;
  std::int64_t excluded_ = 0;  // records
  Thresholds thresholds_;
  std::unordered_map<std::string, Known> known_;  // by the file's chromosome
  const JobControl never_stopped_;
  std::unique_ptr<SitePolariser> polariser_;
};

}  // namespace ancify
