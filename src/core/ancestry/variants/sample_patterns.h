// The bases of outgroups that are samples of variant files, at the sites of a variant file, and the
// allele counts of its other samples there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

// An outgroup: its samples, and their file.
struct OutgroupSamples {
  std::string path;
  std::vector<std::string> samples;
};

// A kind of site.
struct SamplePattern {
  std::string bases;  // a base or N of each outgroup, then REF
  // The focal species' alleles and their counts; no pattern. None unless it has two alleles.
  std::optional<PolymorphicSite> polymorphism;
  std::int64_t sites;
};

// Sites are the positions of records whose REF is a single base. An outgroup's base is the allele
// that most of its called haplotypes carry; N if two are equally frequent, the allele has several
// bases, or no haplotype is called. Of several records at one position, as after a split by ALT,
// the one where an outgroup has an ALT counts; two ALTs give N, and no polymorphism is known.
//
// A record without ALT, such as a reference block of a gVCF, gives REF up to its END. There a
// sample counts as not called if its GQ, DP or MIN_DP is 0, as in blocks without reads.
class SamplePatterns {
 public:
  // Reads `variants`, then each file of outgroups. `haplotypes`: those among which an allele varies
  // whose counts are unknown; 0 for no polymorphisms. InputError if a sample is not in its file, or
  // all samples of `variants` are outgroups; FormatError if a REF differs from that of `variants`;
  // throws like VariantReader and site_of_record().
  SamplePatterns(const std::string& variants, const std::vector<OutgroupSamples>& outgroups,
                 int haplotypes, JobControl& control);

  const std::vector<SamplePattern>& patterns() const { return patterns_; }
  // How often a record's REF was no base of an outgroup because GQ, DP or MIN_DP is 0.
  std::int64_t unsupported() const { return unsupported_; }
  // The index of the pattern at a position (from 1), by the chromosome's name in `variants`; none
  // if it is no site.
  std::optional<std::size_t> at(const std::string& chromosome, std::int64_t position) const;

 private:
  struct Site {
    std::int64_t position;
    std::uint32_t pattern;
    char ref;
  };
  struct Chromosome {
    std::vector<Site> sites;  // in ascending order
    // Of each site, until patterns are counted: each outgroup's state; the polymorphism,
    // if these are wanted
    std::string states;
    std::vector<std::optional<PolymorphicSite>> polymorphisms;
  };

  void read_sites(const std::string& path, const std::vector<OutgroupSamples>& outgroups,
                  int haplotypes, JobControl& control);
  void read_bases(const std::string& path, const std::vector<OutgroupSamples>& outgroups,
                  JobControl& control);
  void count_patterns();
  static void check_ref(const VariantReader& reader, const Site& site, char ref);
  // The index of the first site from a position on.
  static std::size_t first_from(const std::vector<Site>& sites, std::int64_t position);

  std::size_t width_;  // outgroups
  std::int64_t unsupported_ = 0;
  std::unordered_map<std::string, Chromosome> chromosomes_;
  std::vector<SamplePattern> patterns_;
};

// The base of an outgroup at a position, after one more record with `base`; kNoRecord before the
// first.
constexpr char kNoRecord = '\0';
char combined_base(char before, char base, char ref);

}  // namespace ancify
