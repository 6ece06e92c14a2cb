// Genotypes chosen in R: list(path =, identity =, samples_in_file =, variants_in_file =,
// sample_index =, variant_index =, calls = the calls in memory, from pack_calls_impl() or
// read_records_impl(), or NULL). core_genotypes() makes the list.
#pragma once

#include <Rcpp.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/exec/job_control.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/selected_calls.h"

struct ChosenGenotypes {
  std::string path;
  std::string identity;  // of the file that was opened; empty if the calls are in memory
  std::int64_t samples_in_file;
  std::int64_t variants_in_file;
  ancify::GenotypeSelection selection;
  Rcpp::RObject keeper;                 // of the calls in memory
  const std::uint8_t* calls = nullptr;  // if they are in memory
  std::int64_t bytes = 0;               // of calls

  // The result is valid as long as this object.
  std::unique_ptr<ancify::GenotypeFile> open(const ancify::InputIdentities& inputs) const;
};

ChosenGenotypes as_chosen(const Rcpp::List& genotypes);
