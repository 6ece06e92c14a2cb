// How much is called, and how the calls agree with a reference and with known variants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ancestry/calling/call_counts.h"
#include "core/device/simd.h"
#include "core/exec/job_control.h"

namespace ancify {

struct ChromosomeToEvaluate {
  std::string name;
  std::int64_t length;
  std::string calls;      // a one-line FASTA
  std::string reference;  // a FASTA of one sequence; empty for none
  std::string variants;   // VCF or BCF, which may be the same for several; empty for none
};

// A variant is a record whose REF is a base and which has an ALT that is one; ALTs that are none do
// not count.
struct VariantMatches {
  std::int64_t variants = 0;
  std::int64_t called = 0;
  std::int64_t ref = 0;
  std::int64_t alt = 0;
  std::int64_t either = 0;
  std::int64_t unresolved = 0;
  std::int64_t missing = 0;
  std::int64_t other_records = 0;
};

struct Evaluation {
  CallCounts calls;
  AgreementCounts agreement;  // of the calls with the reference
  VariantMatches variants;
};

// Each file is read once, from its start to its end. Chromosomes of variants may be called with or
// without a leading chr. FormatError for a file that does not fit its chromosome.
std::vector<Evaluation> evaluate(const std::vector<ChromosomeToEvaluate>& chromosomes, int threads,
                                 SimdLevel simd, JobControl& control);

}  // namespace ancify
