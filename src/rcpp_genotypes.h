// Genotypes chosen in R: list(parts = a list with list(path =, identity =, samples =, variants =,
// order =, alts =, block_begins = and hard_call_threshold = of a BGEN, places = of
// a VCF Zarr store, dosages =, calls =) for each file, sample_index =, variant_index =, masks = for
// CallMask). core_genotypes() makes the list.
#pragma once

#include <Rcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/masked_genotypes.h"
#include "core/formats/genotype/memory_genotypes.h"
#include "core/formats/genotype/sample_copies.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/formats/genotype/tables.h"
#include "core/formats/genotype/vcf_zarr_index.h"
#include "core/io/rows.h"

// A file, or genotypes in memory from pack_calls_impl(), pack_dosages_impl() or
// read_records_impl().
struct GenotypesOfPart {
  std::string path;
  std::string identity;  // of the file that was opened; empty if the calls are in memory
  std::vector<std::string> index_identity;  // of a PGEN's index, if that is a file of its own
  std::int64_t samples;
  std::int64_t variants;
  std::vector<std::int64_t> order;         // as GenotypePart::samples
  std::vector<int> alts;                   // as for open_genotype_file()
  std::vector<std::int64_t> block_begins;  // of a BGEN, else empty
  double hard_call_threshold = 0;
  bool dosages = false;              // whether dosages are read, where the format has them
  ancify::VcfZarrPlaces places;      // of a VCF Zarr store, else empty
  Rcpp::RObject keeper;              // of the genotypes in memory
  ancify::GenotypesInMemory memory;  // if they are in memory
  std::int64_t bytes = 0;            // of calls there

  // The result is valid as long as this object.
  std::unique_ptr<ancify::GenotypeFile> open(const ancify::InputIdentities& inputs) const;
};

struct ChosenGenotypes {
  std::vector<GenotypesOfPart> parts;
  ancify::GenotypeSelection selection;
  std::vector<ancify::CallMask> masks;  // of all parts' variants and samples

  // The result is valid as long as this object.
  std::unique_ptr<ancify::GenotypeFile> open(const ancify::InputIdentities& inputs) const;

 private:
  std::unique_ptr<ancify::GenotypeFile> open_unmasked(const ancify::InputIdentities& inputs) const;
};

ChosenGenotypes as_chosen(const Rcpp::List& genotypes);

// list(calls = an external pointer, checksum = of the calls and dosages, dosages = the first wanted
// field, or "", of_next = the number of records of the next field, rounded = and called = numbers
// of genotypes).
Rcpp::List as_list(ancify::PackedGenotypes genotypes, const ancify::DosageCounts& dosages);

// list(places = three integers for each variant, no_alleles = pairs of integers), as from
// read_vcf_zarr_impl(). An empty list is no place.
ancify::VcfZarrPlaces as_vcf_zarr_places(const Rcpp::List& places);

Rcpp::CharacterVector as_strings(const ancify::TextColumn& column);

// list(chromosome =, id =, position =, counted =, other =)
Rcpp::List as_list(const ancify::VariantTable& table);
