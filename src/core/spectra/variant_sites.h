// Makes the sites of a spectrum from the genotypes in a VCF or BCF.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ancestry/variants/annotation.h"
#include "core/exec/job_control.h"
#include "core/genome/sequence_set.h"
#include "core/spectra/misidentification.h"
#include "core/spectra/site_table.h"

namespace ancify {

// The six mutations, each with its complement. A CpgState says whether a mutation is in a CpG.
constexpr std::size_t kMutations = 6;
extern const std::array<const char*, kMutations> kMutationNames;
enum class CpgState { kNo, kYes, kUnknown };
constexpr std::size_t kCpgStates = 3;

constexpr int kNoPopulation = -1;

// The records of a spectrum. An insertion has a derived allele that is longer than the ancestral
// one, a deletion a shorter one; indels are both.
enum class SiteKind { kSnps, kIndels, kInsertions, kDeletions };

struct VariantSitesOptions {
  std::string variants;
  std::vector<std::string> chromosomes;  // the names in `variants`, if sequences are given
  std::vector<int> populations;          // of each sample, from 0, or kNoPopulation
  std::size_t n_populations = 0;
  SiteKind kind = SiteKind::kSnps;      // others need use_info
  bool use_info = true;                 // ancestral alleles from INFO, else from `ancestral`
  std::vector<SequenceFile> ancestral;  // as for annotate_variants()
  std::unordered_map<std::string, std::string> phred;
  std::vector<SequenceFile> reference;
  bool low_confidence = true;  // use calls of low confidence too
  std::int64_t window = 0;     // bases; 0 for none
  int threads = 1;
};

// Each record counts as monomorphic, as of another kind or under one reason. Records with the
// reason kOk, and kLow if wanted, are the sites of the table.
struct VariantSites {
  explicit VariantSites(std::size_t populations)
      : table(std::vector<int>(populations)), errors(populations, kMutations * kCpgStates) {}

  SiteTable table;           // for sizes 0, so that it holds all sites
  Misidentification errors;  // kinds: the mutation's number times kCpgStates, and the CpgState
  bool has_posteriors = false;
  int windows = 0;
  std::int64_t monomorphic = 0;
  std::int64_t other_kind = 0;
  AncestralLetterCounts letters = {};  // with use_info: what AA is
  std::vector<AnnotatedChromosome> chromosomes;
};

// The sample names in the header. FormatError if there are none, or one is not UTF-8.
std::vector<std::string> variant_samples(const std::string& path);

// Reads all records of options.variants. FormatError for an invalid record, and if there are sites
// but no record has genotypes. Interrupted if the job is stopped.
VariantSites tabulate_variants(const VariantSitesOptions& options, JobControl& control);

}  // namespace ancify
