// Reads regions of called chromosomes: their calls, runs of equal confidence, or counts of both.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ancestry/calling/call_counts.h"
#include "core/exec/job_control.h"

namespace ancify {

// n positions of a chromosome, from position `start` (from 0).
struct CallRegion {
  std::size_t chromosome;  // index of its CallFile
  std::int64_t start;
  std::int64_t n;
};

// A one-line FASTA file of a chromosome's calls.
struct CallFile {
  std::string path;
  std::string chromosome;
};

// The calls of each region. Sort regions by chromosome: a file is opened whenever the chromosome
// changes. Throws FormatError if a file is not a one-line FASTA, or is too short for a region.
std::vector<std::string> read_regions(const std::vector<CallFile>& files,
                                      const std::vector<CallRegion>& regions, JobControl& control);

// Runs of positions with equal confidence, each as long as possible within its region.
struct ConfidenceRuns {
  std::vector<std::int32_t> region;  // index of the region
  std::vector<std::int64_t> start;   // position in the chromosome, from 0
  std::vector<std::int64_t> n;
  std::vector<std::uint8_t> confidence;  // as Confidence

  std::size_t size() const { return region.size(); }
};

// The runs of all regions, in order. Throws like read_regions(), and FormatError for a letter that
// is not a call.
ConfidenceRuns confidence_runs(const std::vector<CallFile>& files,
                               const std::vector<CallRegion>& regions, JobControl& control);

// The calls of each region by confidence. Throws like confidence_runs().
std::vector<CallCounts> count_regions(const std::vector<CallFile>& files,
                                      const std::vector<CallRegion>& regions, JobControl& control);

// Throws FormatError for a letter of a file that is not a call.
[[noreturn]] void fail_no_call(const std::string& path, char letter);

// The number of occurrences of each byte in files, such as files of posteriors.
std::array<std::int64_t, 256> count_bytes(const std::vector<std::string>& paths,
                                          JobControl& control);

}  // namespace ancify
