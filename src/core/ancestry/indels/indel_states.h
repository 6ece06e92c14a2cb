// The ancestral alleles of insertions and deletions: the allele of a record that each outgroup has,
// and a calling method's choice between them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/ancestry/indels/indel_window.h"
#include "core/ancestry/indels/region_columns.h"
#include "core/ancestry/patterns/method.h"
#include "core/ancestry/projection/projection.h"
#include "core/ancestry/variants/allele_state.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_set.h"

namespace ancify {

// The ancestral allele, given the outgroups' `alleles`: indices, kOtherAllele or
// kUnknownAllele. The method treats them as bases. A call that depends on the assignment of alleles
// to bases, as in a tie, is unresolved; so are more than four different alleles.
AlleleState call_allele(const Method& method, const std::vector<int>& alleles);

struct IndelAlignment {
  std::string file;
  std::string name_in_file;  // where the file has several species
};

struct IndelOptions {
  std::string variants;
  std::vector<std::string> variant_chromosomes;  // the names in `variants`
  std::vector<SequenceFile> reference;           // the focal genome
  std::vector<IndelAlignment> outgroups;         // in the method's order
  std::vector<Chromosome> chromosomes;           // of the alignments
  ProjectionOptions projection;
  int threads = 1;
};

// Reads the records, and then all alignments around insertions and deletions.
class IndelStates {
 public:
  // `options` and `method` must outlive this.
  IndelStates(const IndelOptions& options, const Method& method, JobControl& control);

  // See AlleleStateOf. The records must come from options.variants.
  AlleleState at(const VariantReader& reader, const std::string& reference) const;

 private:
  void find_regions(JobControl& control);
  void read_alignments(JobControl& control);

  const IndelOptions& options_;
  const Method& method_;
  ChromosomeNames names_;
  Regions regions_;
  std::vector<std::unique_ptr<RegionColumns>> outgroups_;
};

}  // namespace ancify
