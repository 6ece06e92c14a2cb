// The places of a variant file's records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

// The records of a file, in its order.
struct VariantPlaces {
  std::vector<std::string> chromosomes;
  std::vector<std::int32_t> chromosome;  // index of the record's chromosome
  std::vector<std::int64_t> position;    // from 1; 0 is before the first base
  // True if all alleles are single bases, the position is not 0, and exclusion_of_info() is empty.
  std::vector<bool> single;
};

VariantPlaces read_variant_places(const std::string& path, JobControl& control);

}  // namespace ancify
