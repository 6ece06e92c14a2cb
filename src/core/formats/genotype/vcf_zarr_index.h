// Reads the samples and variants of a VCF Zarr store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/tables.h"

namespace ancify {

// The places of the calls of ALT alleles, in the order of sites.
struct VcfZarrPlaces {
  struct Place {
    int site;     // index in the store
    int alt;      // its number at the site, from 1
    int alleles;  // of the site, REF included
  };
  std::vector<Place> places;
  // Alleles of sites whose calls count as missing, because is_no_allele() holds for them. Sorted.
  std::vector<std::pair<int, int>> no_alleles;
};

// As RecordCalls, but the calls stay in the store.
struct VcfZarrIndex {
  TextColumn samples;
  VariantTable variants;
  VcfZarrPlaces places;
  std::int64_t split = 0;  // sites with several ALT alleles
  // Sites left out: several ALT alleles, no pair of different bases.
  std::int64_t multiallelic = 0;
  std::int64_t not_snp = 0;
  // Chunks of genotypes, and the chunks without a file: all of their alleles are `fill`.
  std::int64_t chunks = 0;
  std::int64_t missing_chunks = 0;
  std::int64_t fill = 0;
  bool has_dosages = false;  // whether the store has call_DS
};

// The index of SNPs, by the rules of read_record_calls(). Memory is bounded by the sizes of the
// files. Throws FormatError for damaged arrays, or arrays that do not fit together.
VcfZarrIndex read_vcf_zarr_index(const std::string& path, bool split, JobControl& control);

}  // namespace ancify
