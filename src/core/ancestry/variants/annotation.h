// Ancestral alleles in the INFO of VCF and BCF.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ancestry/variants/record_posteriors.h"
#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/sequence_set.h"

namespace ancify {

// Why a record's ancestral allele can be used or not; the first that holds.
enum class Reason {
  kIndel,         // an allele that is no single base
  kMultiallelic,  // several ALTs
  kRefMismatch,   // REF is another base than the reference has
  kMasked,
  kNoCoverage,  // N, or what stands for no base elsewhere
  kUnresolved,  // n
  kNeitherAllele,
  kLow,
  kOk
};

constexpr std::size_t kReasons = 9;
extern const std::array<const char*, kReasons> kReasonNames;

// Of the reader's record, with its ancestral base as it is written ('N' for none) and the
// reference's (none where it is not known).
Reason reason_for(const VariantReader& reader, char ancestral, std::optional<char> reference,
                  bool masked);

struct AnnotationOptions {
  std::string variants;
  std::string output;
  std::vector<std::string> chromosomes;  // the names in `variants`
  std::vector<SequenceFile> ancestral;
  std::unordered_map<std::string, std::string> phred;  // files of errors, as calling writes them
  std::vector<SequenceFile> reference;                 // empty for none
  std::string mask;                                    // a BED; empty for none
  bool polarise = false;
  std::optional<SampleHistory> history;
  int threads = 1;
};

struct AnnotatedChromosome {
  std::string name;
  std::string sequence;  // what it is called in `ancestral`; empty where that does not have it
  std::int64_t records = 0;
  std::array<std::int64_t, kReasons> reasons = {};  // of its records
};

struct AnnotationReport {
  std::vector<AnnotatedChromosome> chromosomes;  // that have records, in their order
  std::int64_t posteriors = 0;                   // records with those of the history
  std::int64_t swapped = 0;
  std::map<std::string, std::int64_t> dropped;  // in how many of these each field was taken out
};

// The names of the chromosomes in a file of variants: what its header declares or else, for which
// all of it is read, what occurs.
std::vector<std::string> variant_chromosomes(const std::string& path, JobControl& control);

// Copies the records of a file of variants in their order, with AA (the base called, as it is
// written), AA_reason, and AA_prob where there are errors. With a history AA_post has the
// posteriors of all bases, where RecordPosteriors has them, and AA_prob is that of AA. With
// `polarise` REF and ALT are exchanged where ALT is ancestral, for the reasons kLow and kOk, and
// AA_old_ref has REF as it was. FormatError for a record behind the end of its sequence.
AnnotationReport annotate_variants(const AnnotationOptions& options, JobControl& control);

}  // namespace ancify
