// Packs the genotypes of populations' samples, site by site.
#include "core/ld/read_sites.h"

#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/record_calls.h"
#include "core/formats/variant/variant_file.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr int kTwoAlleles = 2;

// A sample's units: the index of the first in its population, whose units follow the samples'
// order.
struct SampleUnits {
  std::size_t population;
  std::size_t sample;
  std::int64_t first;
};

class UnitTable {
 public:
  UnitTable(const LdSamples& samples, UnitKind kind) : sizes_(samples.n_populations) {
    for (std::size_t sample = 0; sample < samples.population.size(); ++sample) {
      if (samples.population[sample] == kNoLdPopulation) continue;
      const auto population = static_cast<std::size_t>(samples.population[sample]);
      rows_.push_back({population, sample, sizes_[population]});
      sizes_[population] += kind == UnitKind::kHaplotypes ? kTwoAlleles : 1;
    }
  }

  const std::vector<SampleUnits>& rows() const { return rows_; }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }

 private:
  std::vector<SampleUnits> rows_;
  std::vector<std::int64_t> sizes_;
};

// Closes a site, and either counts why it is omitted or keeps its position.
void close_site(LdSites& sites, int chromosome, std::int64_t position) {
  switch (sites.planes.close()) {
    case FilterStatus::kFixed:
      ++sites.fixed;
      break;
    case FilterStatus::kTooFew:
      ++sites.too_few;
      break;
    case FilterStatus::kKept:
      sites.chromosome.push_back(chromosome);
      sites.position.push_back(position);
  }
}

class RecordSites {
 public:
  RecordSites(const std::string& path, const LdSamples& samples, UnitKind kind, int threads,
              JobControl& control)
      : reader_(path, threads > 1 ? 1 : 0, RecordParts::kGenotypes, control.inputs()),
        names_(reader_.samples()),
        units_(samples, kind),
        found_(SitePlanes(units_.sizes(), kind)) {}

  LdSites read(JobControl& control) {
    for_each_record(reader_, control, [&] { take_record(); });
    return std::move(found_);
  }

 private:
  void take_record() {
    if (reader_.alleles() > kTwoAlleles) {
      ++found_.multiallelic;
    } else if (reader_.alleles() < kTwoAlleles ||
               !are_snp_alleles(reader_.allele(0), reader_.allele(1))) {
      ++found_.not_snp;
    } else if (const Genotypes& genotypes = reader_.genotypes(); genotypes.ploidy == 0) {
      ++found_.without_genotypes;
    } else {
      take_site(genotypes);
    }
  }

  void take_site(const Genotypes& genotypes) {
    if (found_.chromosomes.empty() || reader_.chromosome() != found_.chromosomes.back()) {
      found_.chromosomes.emplace_back(reader_.chromosome());
    }
    found_.planes.begin();
    for (const SampleUnits& row : units_.rows()) {
      const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
      const int* const alleles = &genotypes.alleles[row.sample * ploidy];
      std::size_t n = 0;
      while (n < ploidy && alleles[n] != kNoAllele) ++n;
      if (n > kTwoAlleles) refuse(row, "has more than two alleles: leave the sample out");
      if (found_.planes.kind() == UnitKind::kHaplotypes) {
        set_haplotypes(row, alleles, n);
      } else {
        set_genotype(row, alleles, n);
      }
    }
    close_site(found_, static_cast<int>(found_.chromosomes.size()) - 1, reader_.position());
  }

  void set_haplotypes(const SampleUnits& row, const int* alleles, std::size_t n) {
    if (n == kTwoAlleles && alleles[0] != alleles[1] && !reader_.is_phased(row.sample)) {
      refuse(row, "has alleles whose phase is not known: phase the file, or use `phased = FALSE`");
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (alleles[k] == kMissingAllele) continue;
      found_.planes.set(row.population, row.first + static_cast<std::int64_t>(k),
                        1 - 2 * alleles[k]);
    }
  }

  void set_genotype(const SampleUnits& row, const int* alleles, std::size_t n) {
    if (n == 0 || alleles[0] == kMissingAllele) return;
    if (n == 1) {
      refuse(row,
             "has one allele, but genotypes of two are needed: leave the sample out, or use "
             "`phased = TRUE`");
    }
    if (alleles[1] == kMissingAllele) return;
    found_.planes.set(row.population, row.first, 1 - alleles[0] - alleles[1]);
  }

  [[noreturn]] void refuse(const SampleUnits& row, const std::string& problem) const {
    reader_.fail("sample " + excerpt(names_[row.sample]) + " " + problem);
  }

  VariantReader reader_;
  std::vector<std::string> names_;
  UnitTable units_;
  LdSites found_;
};

}  // namespace

LdSites read_ld_records(const std::string& path, const LdSamples& samples, UnitKind kind,
                        int threads, JobControl& control) {
  return RecordSites(path, samples, kind, in_forked_child() ? 1 : threads, control).read(control);
}

LdSites read_ld_genotypes(const GenotypeFile& file, const GenotypeSelection& selection,
                          const LdSamples& samples, const LdPlaces& places, JobControl& control) {
  check_selection(file, selection);
  const UnitTable units(samples, UnitKind::kGenotypes);
  LdSites found(SitePlanes(units.sizes(), UnitKind::kGenotypes));
  const auto take = [&](std::size_t variant, const std::uint8_t* calls) {
    found.planes.begin();
    for (const SampleUnits& row : units.rows()) {
      const unsigned call = call_at(calls, selection.samples[row.sample]);
      if (call == kMissingCall) continue;
      found.planes.set(row.population, row.first, 1 - static_cast<int>(call));
    }
    close_site(found, places.chromosome[variant], places.position[variant]);
  };
  // On one thread, so that pieces come in order.
  for_each_piece(file, selection.variants, 1, control,
                 [&](std::int64_t first, std::int64_t n, const std::uint8_t* calls) {
                   for (std::int64_t v = 0; v < n; ++v) {
                     take(static_cast<std::size_t>(first + v), calls + v * file.stride());
                   }
                 });
  return found;
}

}  // namespace ancify
