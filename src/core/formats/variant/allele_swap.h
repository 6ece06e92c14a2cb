// REF and ALT of a record exchanged, and with them all that is told by allele. The one file besides
// variant_file.cpp that knows htslib, and only that one includes it.
#pragma once

#include <htslib/vcf.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ancify {

class AlleleSwap {
 public:
  // `header` has to stay.
  explicit AlleleSwap(bcf_hdr_t* header) : header_(header) {}

  // Of a record with two alleles of one base. Genotypes name the other allele; values by allele or
  // by genotype (Number=R, G) come in the other order; AC becomes AN - AC, AF 1 - AF, and what else
  // is told of the ALT alone (Number=A) is taken out, as is what has another number of values than
  // it should. Fields that VCF reserves count as VCF has them, whatever the header says.
  // Gives what is wrong with the record, and null if nothing is.
  const char* apply(bcf1_t* record);

  // In how many records each field was taken out; INFO/ and FORMAT/ before its name.
  const std::map<std::string, std::int64_t>& dropped() const { return dropped_; }

 private:
  const char* swap_genotypes(bcf1_t* record);
  void swap_format(bcf1_t* record);
  void swap_info(bcf1_t* record);
  bool recompute(bcf1_t* record, const char* id);
  const char* name_of(int key) const { return bcf_hdr_int2id(header_, BCF_DT_ID, key); }

  bcf_hdr_t* header_;
  std::vector<int> ploidy_;  // of each sample of the record at hand; 0 where it is not known
  int highest_ploidy_ = 0;
  std::map<std::string, std::int64_t> dropped_;
};

}  // namespace ancify
