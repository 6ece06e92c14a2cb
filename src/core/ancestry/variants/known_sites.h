// The sites of a run that are known to vary in the focal species, and the calls there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/patterns/method.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"
#include "core/genome/stretch.h"

namespace ancify {

class KnownSites {
 public:
  // Reads the sites of all records of a variant file that site_of_record() has, with the counts of
  // all samples. Positions with several such records are left out. Says in the log what is known.
  // Throws like VariantReader, SitePolariser and check_thresholds().
  KnownSites(const std::string& variants, const History& history, const MutationModel& model,
             const Thresholds& thresholds, JobControl& control);

  // InputError if a site is beyond the chromosome's end.
  void check(const Chromosome& chromosome) const;
  // Whether a stretch of the chromosome has such sites.
  bool any_in(const std::string& chromosome, const Stretch& stretch) const;
  // Calls them anew, where an outgroup has a base. `phred` may be null.
  void call(const std::string& chromosome, const Stretch& stretch, char* calls,
            std::uint8_t* phred) const;

 private:
  struct Site {
    std::int64_t position;  // from 0
    PolymorphicSite site;
  };
  using Sites = std::vector<Site>;

  const Sites* sites_of(const std::string& chromosome) const;
  SiteCall call_of(const PolymorphicSite& site) const;

  std::string path_;
  std::size_t species_;
  Thresholds thresholds_;
  std::unordered_map<std::string, Sites> sites_;  // by chromosome, in ascending order
  const JobControl never_stopped_;
  mutable std::mutex mutex_;  // of the polariser, which caches
  std::unique_ptr<SitePolariser> polariser_;
};

}  // namespace ancify
