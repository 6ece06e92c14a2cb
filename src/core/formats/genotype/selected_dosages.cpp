// Reads dosages of chosen variants in pieces, and picks and sums those of chosen samples.
#include "core/formats/genotype/selected_dosages.h"

#include <cstddef>

namespace ancify {

namespace {

// Sums of whole steps are exact.
DosageSums sums_of(const Dosage* dosages, int unit, const std::vector<std::int64_t>& samples) {
  std::int64_t n = 0;
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (const std::int64_t sample : samples) {
    const std::int64_t steps = dosages[sample];
    if (steps == kMissingDosage) continue;
    ++n;
    sum += steps;
    squares += steps * steps;
  }
  if (n == 0) return {};
  const auto count = static_cast<double>(n);
  const double mean = static_cast<double>(sum) / count;
  const double variance = static_cast<double>(squares) / count - mean * mean;
  return {count, static_cast<double>(n * unit + sum) / unit,
          variance / (static_cast<double>(unit) * unit)};
}

}  // namespace

void for_each_dosages(const GenotypeFile& file, const std::vector<std::int64_t>& variants,
                      int threads, JobControl& control, const UseDosages& use) {
  const std::int64_t samples = file.samples();
  for_each_range(static_cast<std::int64_t>(variants.size()),
                 samples * static_cast<std::int64_t>(sizeof(Dosage)), threads, control,
                 [&](std::int64_t first, std::int64_t n) {
                   std::vector<Dosage> dosages(static_cast<std::size_t>(n * samples));
                   std::vector<int> units(static_cast<std::size_t>(n));
                   read_chosen_dosages(file, variants.data() + first, n, dosages.data(),
                                       units.data());
                   use(first, n, dosages.data(), units.data());
                 });
  file.check_unchanged();
}

void dosages_as_numbers(const GenotypeFile& file, const GenotypeSelection& selection,
                        double missing, int threads, JobControl& control, double* matrix) {
  check_selection(file, selection);
  const auto rows = static_cast<std::int64_t>(selection.samples.size());
  for_each_dosages(
      file, selection.variants, threads, control,
      [&](std::int64_t first, std::int64_t n, const Dosage* dosages, const int* units) {
        double* out = matrix + first * rows;
        for (std::int64_t j = 0; j < n; ++j, dosages += file.samples()) {
          for (const std::int64_t sample : selection.samples) {
            const Dosage dosage = dosages[sample];
            *out++ = dosage == kMissingDosage ? missing : copies_of(dosage, units[j]);
          }
        }
      });
}

std::vector<DosageSums> sum_dosages(const GenotypeFile& file, const GenotypeSelection& selection,
                                    int threads, JobControl& control) {
  check_selection(file, selection);
  std::vector<DosageSums> sums(selection.variants.size());
  for_each_dosages(
      file, selection.variants, threads, control,
      [&](std::int64_t first, std::int64_t n, const Dosage* dosages, const int* units) {
        for (std::int64_t j = 0; j < n; ++j, dosages += file.samples()) {
          sums[static_cast<std::size_t>(first + j)] = sums_of(dosages, units[j], selection.samples);
        }
      });
  return sums;
}

}  // namespace ancify
