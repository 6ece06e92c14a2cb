// Site patterns at the records of a variant file: the outgroups' bases and REF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/lengths.h"

namespace ancify {

// A kind of site.
struct RecordPattern {
  std::string bases;  // a base or N of each outgroup, then REF
  // The focal species' alleles and their counts; no pattern. None unless it has two alleles.
  std::optional<PolymorphicSite> polymorphism;
  std::int64_t sites;
};

// Sites are the positions of records whose REF is a single base, each once. Until count_patterns()
// each has a letter for each outgroup, later the number of its pattern.
class RecordPatterns {
 public:
  static constexpr char kNoLetter = '\0';  // of an outgroup until it is set

  // Reads the sites of `variants`; throws like VariantReader. `width`: outgroups.
  RecordPatterns(const std::string& variants, std::size_t width, JobControl& control);
  virtual ~RecordPatterns() = default;
  RecordPatterns(const RecordPatterns&) = delete;
  RecordPatterns& operator=(const RecordPatterns&) = delete;

  // The chromosomes with records, in order, with the lengths that the header declares; 0 for none.
  const std::vector<Chromosome>& chromosomes() const { return chromosomes_; }

  // FormatError if a site is beyond its chromosome. `chromosomes`: the records' chromosomes.
  void require_within(const std::vector<Chromosome>& chromosomes) const;

  // ---- Before count_patterns() ----
  // Calls use(position, letters) for the sites of a chromosome at the positions start, ...,
  // end - 1, counted from 0; `letters` has one for each outgroup. Threads may do different sites.
  template <class Use>
  void for_sites(std::size_t chromosome, std::int64_t start, std::int64_t end, Use use) {
    auto& [sites, letters] = sites_[chromosome];
    for (std::size_t i = first_from(sites, start + 1); i < sites.size() && sites[i].position <= end;
         ++i) {
      use(sites[i].position - 1, &letters[i * width_]);
    }
  }
  // Numbers the patterns. Letters stay as they are, apart from kNoLetter, which becomes N.
  // `polymorphism` returns a site's polymorphism; not set for none.
  using PolymorphismOf =
      std::function<std::optional<PolymorphicSite>(std::size_t chromosome, std::size_t site)>;
  void count_patterns(const PolymorphismOf& polymorphism = {});

  // ---- After it ----
  const std::vector<RecordPattern>& patterns() const { return patterns_; }
  // The index of the pattern at a position (from 1), by the chromosome's name in `variants`; none
  // if it is no site. Fast if positions are asked for in order. Only one thread at a time may use
  // it.
  std::optional<std::size_t> at(const std::string& chromosome, std::int64_t position);

 protected:
  RecordPatterns(std::string path, std::size_t width) : path_(std::move(path)), width_(width) {}

  struct Site {
    std::int64_t position;
    std::uint32_t pattern;
    char ref;
  };
  struct SitesOfChromosome {
    std::vector<Site> sites;  // in ascending order
    std::string letters;      // of each site, until patterns are counted
  };

  // Reads `variants`, and calls seen(is_new) for each record that is at a site; `is_new`: it is the
  // site's first.
  void read_sites(VariantReader& reader, JobControl& control,
                  const std::function<void(bool is_new)>& seen = {});
  // The index of the first site from a position on.
  static std::size_t first_from(const std::vector<Site>& sites, std::int64_t position);

  std::string path_;
  std::size_t width_;  // outgroups
  std::vector<Chromosome> chromosomes_;
  std::vector<SitesOfChromosome> sites_;  // by chromosome
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<RecordPattern> patterns_;
  // The place of the last site that at() found.
  std::size_t last_chromosome_ = 0;
  std::size_t last_site_ = 0;
};

// The single base of an allele; N for several bases.
char letter_of_allele(std::string_view allele);

}  // namespace ancify
