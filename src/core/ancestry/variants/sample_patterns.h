// The bases of outgroups that are samples of variant files, at the sites of a variant file, and the
// allele counts of its other samples there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/variants/record_patterns.h"
#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

// An outgroup: its samples, and their file.
struct OutgroupSamples {
  std::string path;
  std::vector<std::string> samples;
};

// An outgroup's base is the allele that most of its called haplotypes carry; N if two are equally
// frequent, the allele has several bases, or no haplotype is called. Of several records at one
// position, as after a split by ALT, the one where an outgroup has an ALT counts; two ALTs give N,
// and no polymorphism is known.
//
// A record without ALT, such as a reference block of a gVCF, gives REF up to its END. There a
// sample counts as not called if its GQ, DP or MIN_DP is 0, as in blocks without reads.
class SamplePatterns : public RecordPatterns {
 public:
  // Reads `variants`, then each file of outgroups. `haplotypes`: the sample size for alleles
  // of unknown counts; 0 for no polymorphisms. InputError if a sample is not in its file, or
  // all samples of `variants` are outgroups; FormatError if a REF differs from `variants`;
  // throws like VariantReader and site_of_record().
  SamplePatterns(const std::string& variants, const std::vector<OutgroupSamples>& outgroups,
                 int haplotypes, JobControl& control);

  // The number of times that a REF did not count as an outgroup's base as GQ, DP or MIN_DP is 0.
  std::int64_t unsupported() const { return unsupported_; }

 private:
  void read_focal(const std::string& path, const std::vector<OutgroupSamples>& outgroups,
                  int haplotypes, JobControl& control);
  void read_bases(const std::string& path, const std::vector<OutgroupSamples>& outgroups,
                  JobControl& control);
  static void check_ref(const VariantReader& reader, const Site& site, char ref);

  std::int64_t unsupported_ = 0;
  // Of each chromosome's sites, if they are wanted, until patterns are counted
  std::vector<std::vector<std::optional<PolymorphicSite>>> polymorphisms_;
};

// The base of an outgroup at a position, after one more record with `base`; kNoRecord before the
// first.
constexpr char kNoRecord = RecordPatterns::kNoLetter;
char combined_base(char before, char base, char ref);

}  // namespace ancify
