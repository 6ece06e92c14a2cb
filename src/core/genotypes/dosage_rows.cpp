// Converts between dosages and calls.
#include "core/genotypes/dosage_rows.h"

#include <algorithm>

#include "core/formats/genotype/selected_calls.h"

namespace ancify {

namespace {

bool is_whole(Dosage dosage, int unit) {
  return dosage == 0 || dosage == unit || dosage == -unit || dosage == kMissingDosage;
}

unsigned call_of(Dosage dosage, int unit) {
  if (dosage == 0) return 1;
  if (dosage == unit) return 2;
  return dosage == -unit ? 0 : kMissingCall;
}

}  // namespace

int DosageRows::largest_unit() const { return *std::max_element(units_.begin(), units_.end()); }

std::int64_t DosageRows::missing() const {
  return std::count(values_.begin(), values_.end(), kMissingDosage);
}

bool DosageRows::are_calls() const {
  for (int v = 0; v < variants(); ++v) {
    const int unit = units_[static_cast<std::size_t>(v)];
    const Dosage* const row = (*this)[v];
    if (!std::all_of(row, row + samples_, [=](Dosage d) { return is_whole(d, unit); })) {
      return false;
    }
  }
  return true;
}

void DosageRows::write_calls(int variant, std::uint8_t* calls) const {
  std::fill_n(calls, (samples_ + 3) / 4, std::uint8_t{0});
  const Dosage* const row = (*this)[variant];
  const int unit = units_[static_cast<std::size_t>(variant)];
  for (std::int64_t i = 0; i < samples_; ++i) set_call(calls, i, call_of(row[i], unit));
}

void DosageRows::share_unit() {
  const int largest = largest_unit();
  for (int v = 0; v < variants(); ++v) {
    int& unit = units_[static_cast<std::size_t>(v)];
    if (unit != 1) continue;
    unit = largest;
    Dosage* const row = (*this)[v];
    std::transform(row, row + samples_, row, [=](Dosage d) {
      return d == kMissingDosage ? d : static_cast<Dosage>(d * largest);
    });
  }
}

}  // namespace ancify
