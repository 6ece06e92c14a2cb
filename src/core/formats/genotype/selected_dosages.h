// The dosages of chosen samples at chosen variants, on a job's threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/selected_calls.h"

namespace ancify {

// Calls use(first, n, dosages, units) for pieces of the chosen variants; `first` is an index among
// them. `dosages` has all samples of each variant. Memory is bounded.
using UseDosages = std::function<void(std::int64_t first, std::int64_t n, const Dosage* dosages,
                                      const int* units)>;
void for_each_dosages(const GenotypeFile& file, const std::vector<std::int64_t>& variants,
                      int threads, JobControl& control, const UseDosages& use);

// The number of copies that a dosage stands for.
inline double copies_of(Dosage dosage, int unit) {
  return static_cast<double>(dosage + unit) / unit;
}

// Copies as a matrix, with a column for each variant. `missing` replaces missing
// dosages.
void dosages_as_numbers(const GenotypeFile& file, const GenotypeSelection& selection,
                        double missing, int threads, JobControl& control, double* matrix);

// A variant's dosages among the chosen samples, in copies. Without any, all are 0.
struct DosageSums {
  double n = 0;         // samples with a dosage
  double sum = 0;       // of their copies
  double variance = 0;  // of their copies, divided by n
};

DosageSums sum_dosages(const Dosage* dosages, std::int64_t samples, int unit);

std::vector<DosageSums> sum_dosages(const GenotypeFile& file, const GenotypeSelection& selection,
                                    int threads, JobControl& control);

}  // namespace ancify
