// Protein changes caused by the derived alleles of a VCF or BCF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/coding/codons.h"
#include "core/coding/gene_models.h"
#include "core/exec/job_control.h"
#include "core/spectra/site_reader.h"

namespace ancify {

// The source of the bases beside a site in its codon.
enum class Background { kAncestral, kFocal };

// The consequence of a change, or the reason why it is unknown. The names are in R, in this order.
enum class Consequence {
  kSynonymous,
  kMissense,
  kStopGained,
  kStopLost,
  kStartLost,
  kNoSequence,    // the reference does not contain the whole transcript
  kPartialCodon,  // the coding sequence begins or ends within the codon, or has no known frame
  kInnerStop,     // a codon before the last one is a stop
  kUnknownCodon,  // a base of the codon is missing
  kNoCode         // the transcript's genetic code is unknown
};

struct CodingOptions : SiteReaderOptions {
  // By the chromosomes' names in `variants`; transcripts are numbered within each.
  std::unordered_map<std::string, std::vector<Transcript>> transcripts;
  std::vector<std::string> genetic_codes;  // of the transcripts, for GeneticCode
  Background background = Background::kAncestral;
};

// A site in a transcript.
struct CodingChange {
  std::size_t chromosome;  // of CodingChanges::chromosomes
  std::int64_t position;   // from 0
  std::size_t transcript;
  std::int64_t codon;  // from 0; -1 for the codon within which the coding sequence begins
  int place;           // of the site in the codon, from 0
  int ancestral;       // codes of bases on the genome's forward strand
  int derived;
  double posterior;
  Codon ancestral_codon;
  Codon derived_codon;
  Consequence consequence;
  bool focal_codon;       // uses the focal genome's bases beside the site
  bool ref_is_ancestral;  // whether REF of the record is the ancestral base
  std::size_t protein;    // of CodingChanges::proteins, or kNoProtein
};

// The translation of a transcript on the background, up to its stop. With the ancestral background,
// the residue of each missense change is the ancestral one.
struct TranscriptProtein {
  std::string residues;
  std::int64_t focal_codons = 0;  // with the focal bases, as the ancestral ones form a stop
};

constexpr std::size_t kNoProtein = static_cast<std::size_t>(-1);

struct CodingChanges : RecordTotals {
  std::int64_t coding = 0;      // sites with a row
  std::int64_t not_coding = 0;  // sites without a row
  std::vector<CodingChange> changes;
  std::vector<AlleleCount> counts;          // of each change, one for each population
  std::vector<TranscriptProtein> proteins;  // of transcripts with a missense change
};

// Reads all records of options.variants, which need no genotypes.
// Throws InputError like GeneModels, and for an unknown genetic code. Other errors are as from
// SiteReader.
CodingChanges coding_changes(const CodingOptions& options, JobControl& control);

}  // namespace ancify
