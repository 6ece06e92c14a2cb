// Reads the sites of a VCF or BCF: records with two alleles, one of them ancestral.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ancestry/variants/annotation.h"
#include "core/ancestry/variants/record_bases.h"
#include "core/ancestry/variants/record_mask.h"
#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/sequence_set.h"
#include "core/spectra/hypergeometric.h"

namespace ancify {

constexpr int kNoPopulation = -1;

// The records that are sites. An insertion has a derived allele that is longer than the ancestral
// one, a deletion a shorter one; indels are both.
enum class SiteKind { kSnps, kIndels, kInsertions, kDeletions };

struct SiteReaderOptions {
  std::string variants;
  std::vector<std::string> chromosomes;  // the names in `variants`, if sequences are given
  std::vector<int> populations;          // of each sample, from 0, or kNoPopulation
  std::size_t n_populations = 0;
  SiteKind kind = SiteKind::kSnps;      // others need use_info
  bool use_info = true;                 // ancestral alleles from INFO, else from `ancestral`
  std::vector<SequenceFile> ancestral;  // as for annotate_variants()
  std::unordered_map<std::string, std::string> phred;
  std::vector<SequenceFile> reference;
  std::string mask;            // a BED; empty for none
  bool low_confidence = true;  // use calls of low confidence too
  bool needs_genotypes = true;
  int threads = 1;
};

// Each record counts as monomorphic, as of another kind or under one reason. Records with the
// reason kOk, and kLow if wanted, are sites.
struct RecordTotals {
  bool has_posteriors = false;
  std::int64_t monomorphic = 0;
  std::int64_t other_kind = 0;
  AncestralLetterCounts letters = {};  // with use_info: what AA is
  std::vector<AnnotatedChromosome> chromosomes;
};

// The lengths of a chromosome's sequences; 0 without one.
struct ContextLengths {
  std::int64_t ancestral;
  std::int64_t reference;
};

class SiteReader {
 public:
  // `options` and `context` must outlive this.
  SiteReader(const SiteReaderOptions& options, JobControl& control, const TaskContext& context);

  // Goes to the next site; false at the end. FormatError for an invalid record, and at the end if
  // genotypes are needed, and there are sites but no record has any. Interrupted if the job is
  // stopped.
  bool next();

  // How many chromosomes had records so far; the site is on the last of them.
  std::size_t chromosomes() const { return totals_.chromosomes.size(); }
  std::int64_t position() const { return reader_.position() - 1; }  // from 0
  // Codes of bases, for kSnps.
  int ancestral() const { return ancestral_base_; }
  int derived() const { return derived_base_; }
  bool ref_is_ancestral() const { return derived_allele_ == 1; }
  // Of the ancestral allele; 1 if it is unknown.
  double posterior() const { return posterior_; }
  // The haplotypes of each population.
  const std::vector<AlleleCount>& counts() const { return counts_; }
  // The numbers of a field of FORMAT.
  const SampleNumbers& sample_numbers(const char* id) { return reader_.sample_numbers(id); }
  [[noreturn]] void fail(const std::string& problem) const { reader_.fail(problem); }
  // The letter beside the site, so many positions after it; none without a sequence or outside it.
  std::optional<char> ancestral_at(int offset) const { return ancestral_.at(reader_, offset); }
  std::optional<char> reference_at(int offset) const { return reference_.at(reader_, offset); }
  // The current chromosome's reference; null if there is none.
  const std::string* reference() const { return reference_.sequence(); }
  // Of each of totals().chromosomes.
  const std::vector<ContextLengths>& lengths() const { return lengths_; }

  // Of the records read so far.
  RecordTotals& totals() { return totals_; }

 private:
  void begin_chromosome();
  bool take_record();
  char call_of_record();
  bool take_base(char call);
  bool take_indel();
  bool is_wanted(std::int64_t longer) const;
  bool count_reason(Reason reason);
  bool is_monomorphic() const;
  void take_site(int ancestral);
  void count(int derived_allele);

  const SiteReaderOptions& options_;
  const TaskContext& context_;
  RecordBases ancestral_;
  RecordErrors errors_;
  RecordBases reference_;
  RecordMask mask_;
  VariantReader reader_;
  ReadingProgress progress_;
  std::vector<AlleleCount> counts_;
  RecordTotals totals_;
  std::vector<ContextLengths> lengths_;
  int ancestral_base_ = 0;
  int derived_base_ = 0;
  int derived_allele_ = 1;
  double posterior_ = 1;
  bool has_sites_ = false;
  bool has_genotypes_ = false;
};

}  // namespace ancify
