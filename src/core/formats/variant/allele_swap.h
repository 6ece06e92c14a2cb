// Exchanges REF and ALT of a record, and all values that depend on their order. It names htslib, so
// only variant_file.cpp may include it.
#pragma once

#include <htslib/vcf.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ancify {

class AlleleSwap {
 public:
  // `header` must outlive this object.
  explicit AlleleSwap(bcf_hdr_t* header) : header_(header) {}

  // Changes a record with two alleles of one base. Returns the problem, or null if there is none.
  //
  // Genotypes name the other allele. Values by allele or by genotype (Number=R, G) are reversed. AC
  // becomes AN - AC, and AF becomes 1 - AF. Other values of ALT alone (Number=A) are removed, as
  // are fields with a wrong number of values. For fields that VCF reserves, VCF's definition
  // counts, whatever the header says.
  const char* apply(bcf1_t* record);

  // The number of records from which each field was removed. Names begin with INFO/ or FORMAT/.
  const std::map<std::string, std::int64_t>& dropped() const { return dropped_; }

 private:
  const char* swap_genotypes(bcf1_t* record);
  void swap_format(bcf1_t* record);
  void swap_info(bcf1_t* record);
  bool recompute(bcf1_t* record, const char* id);
  const char* name_of(int key) const { return bcf_hdr_int2id(header_, BCF_DT_ID, key); }

  bcf_hdr_t* header_;
  std::vector<int> ploidy_;  // of each sample of the record; 0 if unknown
  int highest_ploidy_ = 0;
  std::map<std::string, std::int64_t> dropped_;
};

}  // namespace ancify
