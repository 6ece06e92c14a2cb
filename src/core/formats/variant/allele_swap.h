// Exchanges REF and an ALT of a record, and all values that depend on their order. It names htslib,
// so only variant_file.cpp may include it.
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

// The new positions of values after an exchange of two alleles.
class AlleleExchange {
 public:
  // Exchanges the first allele and `alt`, among this many alleles.
  void set(int alleles, int alt);
  int alleles() const { return alleles_; }
  int alt() const { return alt_; }
  int of_allele(int allele) const { return allele == 0 ? alt_ : allele == alt_ ? 0 : allele; }
  // The new position of each allele's value.
  const std::vector<int>& of_alleles() const { return of_alleles_; }
  // The new position of each genotype's value in the order of VCF; empty unless a ploidy from
  // `fewest` to `most` has this many genotypes.
  const std::vector<int>& of_genotypes(int values, int fewest, int most);

 private:
  int alleles_ = 0;
  int alt_ = 0;
  std::vector<int> of_alleles_;
  std::map<int, std::vector<int>> of_ploidy_;
};

class AlleleSwap {
 public:
  // `header` must outlive this object.
  explicit AlleleSwap(bcf_hdr_t* header) : header_(header) {}

  // These fields remain unchanged. Names begin with INFO/ or FORMAT/. Throws InputError if the
  // header lacks one.
  void keep(const std::vector<std::string>& fields);

  // Exchanges the first allele and `alt`; other alleles keep their positions. Returns the problem,
  // or null on success. Genotypes name the other allele. Other fields follow their FieldRule, and
  // are removed if they cannot.
  const char* apply(bcf1_t* record, int alt);

  // The number of records from which each field was removed. Names begin with INFO/ or FORMAT/.
  const std::map<std::string, std::int64_t>& dropped() const { return dropped_; }

 private:
  // Rules by a field's index in the header; empty until looked up.
  using Rules = std::vector<std::optional<FieldRule>>;

  FieldRule rule(int column, int key);
  const char* swap_genotypes(bcf1_t* record);
  void swap_format(bcf1_t* record);
  bool swap_samples(const bcf_fmt_t& field, FieldRule rule);
  // `same_length` tells whether the alleles have equally many bases.
  void swap_info(bcf1_t* record, bool same_length);
  bool recompute(bcf1_t* record, const char* id, FieldRule rule);
  const char* name_of(int key) const { return bcf_hdr_int2id(header_, BCF_DT_ID, key); }

  bcf_hdr_t* header_;
  AlleleExchange exchange_;  // of the record
  std::set<std::string> kept_;
  Rules info_;
  Rules format_;
  std::vector<int> ploidy_;  // of each sample of the record; 0 if unknown
  int lowest_ploidy_ = 0;    // of the known ones
  int highest_ploidy_ = 0;
  std::map<std::string, std::int64_t> dropped_;
};

}  // namespace ancify
