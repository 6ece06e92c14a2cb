// Exchanges REF and ALT of a record, and all values that depend on their order. It names htslib, so
// only variant_file.cpp may include it.
#pragma once

#include <htslib/vcf.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/formats/variant/allele_fields.h"

namespace ancify {

class AlleleSwap {
 public:
  // `header` must outlive this object.
  explicit AlleleSwap(bcf_hdr_t* header) : header_(header) {}

  // These fields stay as they are. Names begin with INFO/ or FORMAT/. InputError if the header
  // lacks one.
  void keep(const std::vector<std::string>& fields);

  // Changes a record with two alleles. Returns the problem, or null if there is none.
  // Genotypes name the other allele. Other fields follow their FieldRule; those that can't are
  // removed.
  const char* apply(bcf1_t* record);

  // The number of records from which each field was removed. Names begin with INFO/ or FORMAT/.
  const std::map<std::string, std::int64_t>& dropped() const { return dropped_; }

 private:
  // Rules by a field's number in the header; none if not looked up yet.
  using Rules = std::vector<std::optional<FieldRule>>;

  FieldRule rule(int column, int key);
  const char* swap_genotypes(bcf1_t* record);
  void swap_format(bcf1_t* record);
  bool swap_samples(const bcf_fmt_t& field, FieldRule rule) const;
  // `same_length`: whether the alleles have as many bases.
  void swap_info(bcf1_t* record, bool same_length);
  bool recompute(bcf1_t* record, const char* id, FieldRule rule);
  const char* name_of(int key) const { return bcf_hdr_int2id(header_, BCF_DT_ID, key); }

  bcf_hdr_t* header_;
  std::set<std::string> kept_;
  Rules info_;
  Rules format_;
  std::vector<int> ploidy_;  // of each sample of the record; 0 if unknown
  int lowest_ploidy_ = 0;    // of those that are known
  int highest_ploidy_ = 0;
  std::map<std::string, std::int64_t> dropped_;
};

}  // namespace ancify
