// Reads the sites of populations, to be paired, from records or from opened genotypes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/ld/site_planes.h"

namespace ancify {

constexpr int kNoLdPopulation = -1;

// The population of each sample, from 0, or kNoLdPopulation.
struct LdSamples {
  std::vector<int> population;
  std::size_t n_populations;
};

// Retained sites, in the file's order, and the counts of omitted sites.
struct LdSites {
  explicit LdSites(SitePlanes sites) : planes(std::move(sites)) {}

  SitePlanes planes;
  std::vector<std::string> chromosomes;  // in order
  std::vector<int> chromosome;           // of each site, from 0
  std::vector<std::int64_t> position;    // from 1
  std::int64_t multiallelic = 0;
  std::int64_t not_snp = 0;
  std::int64_t without_genotypes = 0;
  std::int64_t fixed = 0;
  std::int64_t too_few = 0;
};

// Takes records of one REF and one ALT, each a base. FormatError as from a VariantReader, and for
// more than two alleles in a sample. Genotypes: FormatError for a single allele; a genotype with a
// missing allele is missing. Haplotypes: FormatError for an unphased heterozygote; a haploid call
// is one haplotype.
LdSites read_ld_records(const std::string& path, const LdSamples& samples, UnitKind kind,
                        int threads, JobControl& control);

// The positions of the chosen variants, one value each.
struct LdPlaces {
  std::vector<int> chromosome;
  std::vector<std::int64_t> position;
};

// Takes chosen genotypes. `samples` describes the chosen samples. `chromosomes` stays empty.
LdSites read_ld_genotypes(const GenotypeFile& file, const GenotypeSelection& selection,
                          const LdSamples& samples, const LdPlaces& places, JobControl& control);

}  // namespace ancify
