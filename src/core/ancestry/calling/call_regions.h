// Regions of called chromosomes: the calls there, and how sure they are, run by run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

// n positions of a chromosome from `start` on, counted from 0.
struct CallRegion {
  std::size_t chromosome;
  std::int64_t start;
  std::int64_t n;
};

// A one-line FASTA of calls.
struct CallFile {
  std::string path;
  std::string chromosome;
};

// The calls of each region. Regions should come chromosome by chromosome, as a file is opened
// where the region before lies in another. FormatError where a file is not a one-line FASTA or is
// shorter than a region asks.
std::vector<std::string> read_regions(const std::vector<CallFile>& files,
                                      const std::vector<CallRegion>& regions, JobControl& control);

// Positions of equal confidence in a row, as many as there are in one region.
struct ConfidenceRuns {
  std::vector<std::int32_t> region;  // its index
  std::vector<std::int64_t> start;   // in the chromosome, from 0
  std::vector<std::int64_t> n;
  std::vector<std::uint8_t> confidence;  // a Confidence

  std::size_t size() const { return region.size(); }
};

// The runs of each region, in order; the regions as for read_regions().
ConfidenceRuns confidence_runs(const std::vector<CallFile>& files,
                               const std::vector<CallRegion>& regions, JobControl& control);

}  // namespace ancify
