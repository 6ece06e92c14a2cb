// Counts of calls, and of their agreement with a reference and with known variants.
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
  std::string variants;   // VCF or BCF, perhaps shared by several chromosomes; empty for none
};

// Counts of records. A variant is a record with a single base as REF and at least one as ALT; other
// ALTs are ignored.
struct VariantMatches {
  std::int64_t variants = 0;
  std::int64_t called = 0;         // variants whose position has a base called
  std::int64_t ref = 0;            // the base called is REF
  std::int64_t alt = 0;            // it is an ALT
  std::int64_t either = 0;         // it is REF or an ALT
  std::int64_t unresolved = 0;     // called n
  std::int64_t missing = 0;        // no call
  std::int64_t other_records = 0;  // records that are no variants
};

struct Evaluation {
  CallCounts calls;
  AgreementCounts agreement;  // of the calls with the reference
  VariantMatches variants;
};

// Evaluates the calls; each file is read once, in order. Variant files may name chromosomes with or
// without a leading chr. FormatError for a file that does not match its chromosome.
std::vector<Evaluation> evaluate(const std::vector<ChromosomeToEvaluate>& chromosomes, int threads,
                                 SimdLevel simd, JobControl& control);

}  // namespace ancify
