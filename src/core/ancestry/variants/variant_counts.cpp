// Reads a variant file, and counts its sites.
#include "core/ancestry/variants/variant_counts.h"

#include <map>
#include <optional>
#include <tuple>

#include "core/ancestry/variants/annotation.h"
#include "core/ancestry/variants/record_site.h"
#include "core/exec/errors.h"

namespace ancify {

namespace {

// Sites with their numbers. A site is taken in when the position's next record is known.
class SiteCounter {
 public:
  void begin_chromosome(const std::string& name) {
    finish();
    chromosomes_.push_back(name);
  }
  void begin_position() {
    finish();
    records_ = 0;
  }
  void add(const PolymorphicSite& site) {
    ++records_;
    last_ = site;
  }
  void finish() {
    // With several records, the two alleles are unknown.
    if (records_ == 1 && last_->copies) ++counts_[key(*last_)];
    if (records_ == 1 && !last_->copies) ++uncounted_;
    last_.reset();
    records_ = 0;
  }
  std::int64_t uncounted() const { return uncounted_; }
  const std::vector<std::string>& chromosomes() const { return chromosomes_; }
  std::vector<CountedVariants::Kind> counts() const {
    std::vector<CountedVariants::Kind> result;
    for (const auto& [key, count] : counts_) {
      const auto& [chromosome, pattern, first, second, haplotypes, copies] = key;
      result.push_back({chromosome, {pattern, {first, second}, haplotypes, copies}, count});
    }
    return result;
  }

 private:
  using Key = std::tuple<std::size_t, std::int64_t, int, int, int, int>;
  Key key(const PolymorphicSite& site) const {
    return {chromosomes_.size() - 1, site.pattern,    site.alleles[0],
            site.alleles[1],         site.haplotypes, *site.copies};
  }

  std::vector<std::string> chromosomes_;
  std::map<Key, std::int64_t> counts_;
  std::optional<PolymorphicSite> last_;
  int records_ = 0;
  std::int64_t uncounted_ = 0;
};

}  // namespace

CountedVariants count_variants(const VariantCountOptions& options, JobControl& control) {
  VariantReader reader(options.path, 0, RecordParts::kGenotypes, control.inputs());
  const CountedSamples samples(options.samples, reader, options.count_fields);
  OutgroupBases outgroups(options.outgroups, reader);
  CountedVariants result;
  SiteCounter counter;
  std::string chromosome;
  bool with_outgroups = false;
  std::int64_t last = -1;
  while (reader.next()) {
    if (control.stop_requested()) throw Interrupted();
    if (reader.chromosome() != chromosome) {
      chromosome = reader.chromosome();
      with_outgroups = options.outgroups.count(chromosome) > 0;
      outgroups.begin_chromosome(chromosome);
      counter.begin_chromosome(chromosome);
      last = -1;
    }
    if (!with_outgroups) continue;
    ++result.records;
    if (reader.position() != last) counter.begin_position();
    last = reader.position();
    auto site = site_of_record(reader, samples, 2);
    if (!site) continue;
    if (exclusion_of_info(reader)) {
      ++result.excluded;
      continue;
    }
    const auto pattern = outgroups.pattern();
    if (!pattern) continue;
    site->pattern = *pattern;
    counter.add(*site);
  }
  counter.finish();
  result.chromosomes = counter.chromosomes();
  result.kinds = counter.counts();
  result.uncounted = counter.uncounted();
  return result;
}

}  // namespace ancify
