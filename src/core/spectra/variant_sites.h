// The sites of a spectrum, from the genotypes in a file of variants.
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

// Mutations, each with its complement; and whether one is in a CpG.
constexpr std::size_t kMutations = 6;
extern const std::array<const char*, kMutations> kMutationNames;
enum class CpgState { kNo, kYes, kUnknown };
constexpr std::size_t kCpgStates = 3;

constexpr int kNoPopulation = -1;

struct VariantSitesOptions {
  std::string variants;
  std::vector<std::string> chromosomes;  // the names in `variants`, where there are sequences
  std::vector<int> populations;          // of each sample, from 0, or kNoPopulation
  std::size_t n_populations = 0;
  bool use_info = true;                 // what is ancestral is in INFO, else in `ancestral`
  std::vector<SequenceFile> ancestral;  // as for annotate_variants()
  std::unordered_map<std::string, std::string> phred;
  std::vector<SequenceFile> reference;
  bool low_confidence = true;  // use these calls too
  std::int64_t window = 0;     // bases; 0 for none
  int threads = 1;
};

// Each record is of one reason, or has one allele, or is a site of the table.
struct VariantSites {
  explicit VariantSites(std::size_t populations)
      : table(std::vector<int>(populations)), errors(populations, kMutations * kCpgStates) {}

  SiteTable table;           // of sizes 0, which leaves no site out
  Misidentification errors;  // kinds: the mutation's number times kCpgStates, and the CpgState
  bool has_posteriors = false;
  int windows = 0;
  std::int64_t monomorphic = 0;
  std::vector<AnnotatedChromosome> chromosomes;
};

// The names in the header. FormatError where there are none, or one that is not UTF-8.
std::vector<std::string> variant_samples(const std::string& path);

// FormatError for what no record can have, and where no record at all has genotypes.
VariantSites tabulate_variants(const VariantSitesOptions& options, JobControl& control);

}  // namespace ancify
