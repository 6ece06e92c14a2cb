// The dosages of a block of variants, as read from a file.
#pragma once

#include <cstdint>
#include <vector>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

// A row of dosages for each variant, and its unit.
class DosageRows {
 public:
  DosageRows(std::int64_t samples, int variants)
      : samples_(samples),
        values_(static_cast<std::size_t>(samples * variants)),
        units_(static_cast<std::size_t>(variants)) {}

  std::int64_t samples() const { return samples_; }
  int variants() const { return static_cast<int>(units_.size()); }
  Dosage* operator[](int variant) { return values_.data() + variant * samples_; }
  const Dosage* operator[](int variant) const { return values_.data() + variant * samples_; }
  std::vector<int>& units() { return units_; }
  const std::vector<int>& units() const { return units_; }
  int largest_unit() const;
  std::int64_t missing() const;

  // True if all dosages are whole numbers of copies, so that calls represent them.
  bool are_calls() const;
  // Writes a variant's calls, (samples + 3) / 4 bytes as GenotypeFile::read() does. A dosage that
  // is no whole number of copies is missing.
  void write_calls(int variant, std::uint8_t* calls) const;
  // Converts rows of calls, in units of 1, to the largest unit. So products of a block round all
  // variants alike.
  void share_unit();

 private:
  std::int64_t samples_;
  std::vector<Dosage> values_;
  std::vector<int> units_;
};

}  // namespace ancify
