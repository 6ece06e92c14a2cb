// Reads dosages of chosen variants in pieces, and picks and sums the dosages of chosen samples.
#include "core/formats/genotype/selected_dosages.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ancify {

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

// Sums of (d - c) and (d - c)^2 about an integer c near the mean of the dosages d are exact, and so
// the variance has no cancellation.
DosageSums sum_dosages(const Dosage* dosages, std::int64_t samples, int unit) {
  std::int64_t observed = 0;
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t steps = dosages[i] == kMissingDosage ? 0 : dosages[i];
    observed += dosages[i] != kMissingDosage;
    sum += steps;
    squares += steps * steps;
  }
  if (observed == 0) return {};
  const auto n = static_cast<double>(observed);
  const auto centre = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(sum) / n));
  const auto shifted = static_cast<double>(sum - centre * observed);
  const auto around = static_cast<double>(squares - 2 * centre * sum + centre * centre * observed);
  const auto steps = static_cast<double>(unit);
  return {n, static_cast<double>(observed * unit + sum) / steps,
          (around - shifted * shifted / n) / n / (steps * steps)};
}

std::vector<DosageSums> sum_dosages(const GenotypeFile& file, const GenotypeSelection& selection,
                                    int threads, JobControl& control) {
  check_selection(file, selection);
  std::vector<DosageSums> sums(selection.variants.size());
  for_each_dosages(
      file, selection.variants, threads, control,
      [&](std::int64_t first, std::int64_t n, const Dosage* dosages, const int* units) {
        std::vector<Dosage> chosen(selection.samples.size());
        for (std::int64_t j = 0; j < n; ++j, dosages += file.samples()) {
          std::transform(selection.samples.begin(), selection.samples.end(), chosen.begin(),
                         [dosages](std::int64_t sample) { return dosages[sample]; });
          sums[static_cast<std::size_t>(first + j)] =
              sum_dosages(chosen.data(), static_cast<std::int64_t>(chosen.size()), units[j]);
        }
      });
  return sums;
}

}  // namespace ancify
