// Builds the sites of a spectrum from the genotypes in a VCF or BCF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/job_control.h"
#include "core/spectra/misidentification.h"
#include "core/spectra/mutation_types.h"
#include "core/spectra/site_reader.h"
#include "core/spectra/site_table.h"

namespace ancify {

// True if a mutation is in a CpG dinucleotide.
enum class CpgState { kNo, kYes, kUnknown };
constexpr std::size_t kCpgStates = 3;

constexpr int kAnyBase = -1;

// The class in which a position's sites are counted.
struct SiteClass {
  std::int64_t position;  // from 0
  int derived;            // the code of a base, or kAnyBase
  int number;             // from 0
};

struct VariantSitesOptions : SiteReaderOptions {
  std::int64_t window = 0;  // bases; 0 for none
  // With classes, a site's window is its class. They are keyed by chromosome in `variants`, and
  // sorted by position.
  int n_classes = 0;
  std::unordered_map<std::string, std::vector<SiteClass>> classes;
  // Above 0: weights that are unbiased for posteriors p by outgroups alone, p / (2 p - 1) and
  // (p - 1) / (2 p - 1). Sites with a lower p are left out.
  double least_posterior = 0;
};

// A window of `window` bases on a chromosome of RecordTotals::chromosomes.
struct SiteWindow {
  std::size_t chromosome;  // from 0
  std::int64_t index;      // from 0, at the chromosome's first base
};

struct VariantSites : RecordTotals {
  explicit VariantSites(std::size_t populations)
      : table(std::vector<int>(populations)), errors(populations, kMutations * kCpgStates) {}

  SiteTable table;           // for sizes 0, so that it holds all sites
  Misidentification errors;  // kinds: the mutation's number times kCpgStates, and the CpgState
  int windows = 0;
  std::vector<SiteWindow> places;  // of windows by position
  std::int64_t unclassed = 0;      // sites without a class
  std::int64_t doubtful = 0;       // sites below least_posterior
};

// The sample names in the header. Throws FormatError if one is not UTF-8 and, unless
// `may_be_none`, if the header has none.
std::vector<std::string> variant_samples(const std::string& path, bool may_be_none = false);

// Reads all records of options.variants. Throws the errors of SiteReader.
VariantSites tabulate_variants(const VariantSitesOptions& options, JobControl& control);

}  // namespace ancify
