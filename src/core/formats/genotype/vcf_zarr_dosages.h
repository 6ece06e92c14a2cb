// The dosages of a VCF Zarr store, packed in memory.
#pragma once

#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/memory_genotypes.h"
#include "core/formats/genotype/sample_copies.h"
#include "core/formats/genotype/vcf_zarr_index.h"

namespace ancify {

struct VcfZarrDosages {
  PackedGenotypes genotypes;  // none if the store has none of the wanted fields
  DosageCounts counts;
};

// Reads the dosages of these places from call_DS or call_GP, by the rules of read_record_calls().
// `fields`: the wanted ones, DS or GP. Throws FormatError for arrays that are damaged or do not fit
// together, and for a dosage beyond the copies.
VcfZarrDosages read_vcf_zarr_dosages(const std::string& path, std::int64_t samples,
                                     const VcfZarrPlaces& places,
                                     const std::vector<std::string>& fields, JobControl& control);

}  // namespace ancify
