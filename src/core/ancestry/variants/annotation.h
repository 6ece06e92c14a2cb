// Ancestral alleles in the INFO fields of VCF and BCF files.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ancestry/variants/allele_state.h"
#include "core/ancestry/variants/ancestral_info.h"
#include "core/ancestry/variants/record_bases.h"
#include "core/ancestry/variants/record_mask.h"
#include "core/ancestry/variants/record_patterns.h"
#include "core/ancestry/variants/record_posteriors.h"
#include "core/ancestry/variants/record_scores.h"
#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/sequence_set.h"

namespace ancify {

// How a record's ancestral allele is used, or the first reason that excludes it.
enum class Reason {
  kIndel,         // an allele is not a single base, nor several if such alleles are wanted
  kMultiallelic,  // several ALTs, unless they are wanted
  kRefMismatch,   // REF differs from the reference genome
  kMasked,
  kNoCoverage,     // no base called: N, - or another letter
  kUnresolved,     // called n
  kNeitherAllele,  // the base called is no allele
  kLow,            // usable, low confidence
  kOk              // usable, high confidence
};

constexpr std::size_t kReasons = 9;
extern const std::array<const char*, kReasons> kReasonNames;

// The reason that excludes a record's position, whatever its alleles are: kRefMismatch or kMasked.
// All bases of REF are compared with the reference and the mask.
using Exclusion = std::optional<Reason>;
Exclusion exclusion_of(const VariantReader& reader, const RecordBases& reference, RecordMask& mask);

// The exclusion that an earlier annotation left in AA_reason. An AA beside it does not count.
Exclusion exclusion_of_info(VariantReader& reader);

// The reason for the reader's record. `ancestral`: the base as called, 'N' for none;
// `multiallelic`: whether there may be several ALTs.
Reason reason_for(const VariantReader& reader, char ancestral, Exclusion exclusion,
                  bool multiallelic = false);

// As above, for a record whose alleles have several bases, with any number of ALTs.
Reason reason_for_indel(const AlleleState& state, Exclusion exclusion);

// The treatment of records whose REF may not be ancestral after polarising.
enum class Unpolarised {
  kKeep,  // written like others
  kFlag,  // written with NOT_POLARISED in FILTER
  kDrop   // not written
};

// Calls at records alone: a letter for each of their patterns.
struct CallsAtRecords {
  RecordPatterns* patterns;  // must outlive this
  std::string calls;
  // Of each call, the posterior of its base; NaN if there is none. Empty without posteriors.
  std::vector<double> posteriors;
};

struct AnnotationOptions {
  std::string variants;
  std::string output;
  std::vector<std::string> chromosomes;  // the names in `variants`
  bool use_info = false;                 // ancestral alleles from AA of INFO, else from `ancestral`
  std::vector<SequenceFile> ancestral;
  std::optional<CallsAtRecords> record_calls;          // in place of both
  std::unordered_map<std::string, std::string> phred;  // files of phred-scaled errors
  std::vector<SequenceFile> reference;                 // empty for none
  std::string mask;                                    // a BED; empty for none
  bool polarise = false;
  Unpolarised unpolarised = Unpolarised::kKeep;  // with `polarise`
  std::vector<std::string> keep_fields = {};  // that polarising leaves as they are, as in INFO/DB
  std::optional<SampleHistory> history;
  std::optional<ScoresByChromosome> scores;
  bool multiallelic = false;  // ancestral alleles of records with several ALTs too
  bool indels = false;        // and of records whose alleles have several bases, see is_indel()
  AlleleStateOf indel_state;  // with `indels`, but without use_info
  int threads = 1;
};

struct AnnotatedChromosome {
  std::string name;
  std::string sequence;  // its name in `ancestral`; empty if not there
  std::int64_t records = 0;
  std::array<std::int64_t, kReasons> reasons = {};  // of its records
};

struct AnnotationReport {
  std::vector<AnnotatedChromosome> chromosomes;  // with records, in the file's order
  std::int64_t posteriors = 0;                   // records with posteriors from the history
  std::int64_t counted = 0;                      // of these, records that used allele counts too
  std::int64_t scored = 0;                       // records with a score
  std::int64_t swapped = 0;                      // records whose REF and ALT were exchanged
  std::int64_t not_polarised = 0;                // with `polarise`: whose REF may not be ancestral
  std::map<std::string, std::int64_t> dropped;   // swapped records that lost a field, by field
  AncestralLetterCounts letters = {};            // with use_info: contents of AA
};

// The chromosomes of a variant file: those its header or index declares. If there are none, the
// whole file is read for the names that occur.
std::vector<std::string> variant_chromosomes(const std::string& path, JobControl& control);

// Copies the records of a variant file in order and adds AA (the base as called), AA_reason and, if
// there are files of errors, AA_prob. Excluded records get none of these, and lose existing ones.
// With a history, AA_post has the posteriors of all bases where RecordPosteriors has them, and
// AA_prob has AA's. With `polarise`, REF and ALT are exchanged where ALT is ancestral and the
// reason is kLow or kOk; AA_old_ref keeps the old REF. Other records are flagged, or left out, if
// `unpolarised` says so. With `use_info` AA of other records stays as
// it is, and without a history its posteriors too. With `indels` AA of such a record is its
// ancestral allele. With `scores`, MLR and MLRT have the score of the change from the ancestral
// base, and its transcript, if one exists. With `use_info` an exclusion in AA_reason stays.
// FormatError for a record beyond the end of its sequence, InputError if no record has the AA to
// use.
AnnotationReport annotate_variants(const AnnotationOptions& options, JobControl& control);

}  // namespace ancify
