// Finds the unit in which a variant's dosages are whole.
#include "core/formats/genotype/packed_dosages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/formats/genotype/selected_calls.h"

namespace ancify {

namespace {

constexpr std::array<int, 4> kExactUnits = {1, 1000, 10000, 255};
constexpr int kCallsPerUnit = 10;  // a call is at most a unit / 10 away

bool is_whole(double copies, int unit, double error) {
  if (std::isnan(copies)) return true;
  return std::abs(std::round(copies * unit) - copies * unit) <= error * unit;
}

int unit_of(const std::vector<double>& copies, double error) {
  for (const int unit : kExactUnits) {
    const auto fits = [&](double number) { return is_whole(number, unit, error); };
    if (std::all_of(copies.begin(), copies.end(), fits)) return unit;
  }
  return kMostUnit;
}

unsigned call_of(int dosage, int unit) {
  const int copies = dosage * 2 >= unit ? 2 : dosage * 2 >= -unit ? 1 : 0;
  const int distance = std::abs(dosage - (copies - 1) * unit);
  return kCallsPerUnit * distance <= unit ? static_cast<unsigned>(copies) : kMissingCall;
}

}  // namespace

std::int64_t add_dosages(const std::vector<double>& copies, double error, PackedGenotypes& packed) {
  const int unit = unit_of(copies, error);
  std::int64_t rounded = 0;
  const std::size_t begin = packed.calls.size();
  packed.calls.resize(begin + (copies.size() + 3) / 4);
  std::uint8_t* const calls = packed.calls.data() + begin;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const bool missing = std::isnan(copies[i]);
    const int dosage =
        missing ? kMissingDosage : static_cast<int>(std::lround(copies[i] * unit)) - unit;
    packed.dosages.push_back(static_cast<Dosage>(dosage));
    set_call(calls, static_cast<std::int64_t>(i), missing ? kMissingCall : call_of(dosage, unit));
    if (!is_whole(copies[i], unit, error)) ++rounded;
  }
  packed.units.push_back(unit);
  return rounded;
}

}  // namespace ancify
