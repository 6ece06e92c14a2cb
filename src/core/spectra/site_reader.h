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

// The kinds of records that are sites. The derived allele is longer than the ancestral one in an
// insertion, and shorter in a deletion; indels are both.
enum class SiteKind { kSnps, kIndels, kInsertions, kDeletions };

struct SiteReaderOptions {
  std::string variants;
  std::vector<std::string> chromosomes;  // the names in `variants`, if sequences are given
  std::vector<int> populations;          // of each sample, from 0, or kNoPopulation
  std::size_t n_populations = 0;
  SiteKind kind = SiteKind::kSnps;        // others need use_info
  bool use_info = true;                   // ancestral alleles from INFO, else from `ancestral`
  bool ref_is_ancestral = false;          // instead of both, for folded spectra
  std::vector<CountFields> count_fields;  // of each population, in place of genotypes
  // With count_fields: the header must declare them as they are, and sites without possible counts
  // are left out. Otherwise missing counts are 0, and impossible ones are an error.
  bool named_fields = false;
  std::vector<SequenceFile> ancestral;  // as for annotate_variants()
  std::unordered_map<std::string, std::string> phred;
  std::vector<SequenceFile> reference;
  std::string mask;            // a BED; empty for none
  bool low_confidence = true;  // use calls of low confidence too
  bool needs_counts = true;
  int threads = 1;
};

// Each record counts once: as monomorphic, as a record of another kind, or under one reason.
// Records with the reason kOk, and kLow if wanted, are sites, unless they lack counts.
struct RecordTotals {
  bool has_posteriors = false;
  std::int64_t monomorphic = 0;
  std::int64_t other_kind = 0;
  // With named_fields, a population's fields: absent or missing; more copies than called alleles.
  std::int64_t without_counts = 0;
  std::int64_t impossible_counts = 0;
  AncestralLetterCounts letters = {};  // with use_info: the content of AA
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

  // Advances to the next site; false at the end. Throws FormatError for an invalid record, and at
  // the end if counts are needed but none of the sites' records has any. Throws Interrupted if the
  // job is stopped.
  bool next();

  // The number of chromosomes with records so far; the site is on the last of them.
  std::size_t chromosomes() const { return totals_.chromosomes.size(); }
  std::int64_t position() const { return reader_.position() - 1; }  // from 0
  // Codes of bases, for kSnps.
  int ancestral() const { return ancestral_base_; }
  int derived() const { return derived_base_; }
  bool ref_is_ancestral() const { return derived_allele_ == 1; }
  // The posterior of the ancestral allele; 1 if it is unknown.
  double posterior() const { return posterior_; }
  // True if the posterior depends on the sample's counts, and not on outgroups alone.
  bool posterior_of_sample() const { return posterior_of_sample_; }
  // The haplotype counts of each population.
  const std::vector<AlleleCount>& counts() const { return counts_; }
  // The number of stored alleles, and the indices of the ancestral and the derived one.
  int stored_alleles() const { return reader_.stored_alleles(); }
  int stored_ancestral() const { return reader_.stored_index(1 - derived_allele_); }
  int stored_derived() const { return reader_.stored_index(derived_allele_); }
  // The values of a field of FORMAT.
  const SampleNumbers& sample_numbers(const char* id) { return reader_.sample_numbers(id); }
  [[noreturn]] void fail(const std::string& problem) const { reader_.fail(problem); }
  // The ancestral letter at this offset from the site; empty without a sequence or outside it.
  std::optional<char> ancestral_at(int offset) const { return ancestral_.at(reader_, offset); }
  std::optional<char> reference_at(int offset) const { return reference_.at(reader_, offset); }
  // The current chromosome's reference; null if absent.
  const std::string* reference() const { return reference_.sequence(); }
  // One element for each of totals().chromosomes.
  const std::vector<ContextLengths>& lengths() const { return lengths_; }

  // The totals of the records read so far.
  RecordTotals& totals() { return totals_; }

 private:
  void begin_chromosome();
  bool take_record();
  char call_of_record();
  bool take_base(char call);
  bool take_indel();
  Exclusion exclusion();
  bool is_wanted(std::int64_t longer) const;
  bool count_reason(Reason reason);
  bool is_monomorphic() const;
  void take_site(int ancestral);
  bool count(int derived_allele);
  void count_genotypes();
  bool count_of_info();

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
  bool posterior_of_sample_ = false;
  bool has_sites_ = false;
  bool has_counts_ = false;
};

}  // namespace ancify
