// Dosages in memory that stand for a file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "genotypes/memory_genotypes.h"

namespace ancify {

struct Dosages {
  std::int64_t samples;
  std::vector<std::vector<Dosage>> of_variants;
  std::vector<int> units;

  // Each seventh variant has calls, in units of 1.
  static Dosages random(std::int64_t samples, std::int64_t variants, double missing,
                        const std::vector<int>& units, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    Dosages dosages{samples, {}, {}};
    for (std::int64_t j = 0; j < variants; ++j) {
      const int unit = j % 7 == 6 ? 1 : units[static_cast<std::size_t>(j) % units.size()];
      std::uniform_int_distribution<int> any(-unit, unit);
      std::vector<Dosage> row;
      for (std::int64_t i = 0; i < samples; ++i) {
        row.push_back(uniform(random) < missing ? kMissingDosage
                                                : static_cast<Dosage>(any(random)));
      }
      dosages.of_variants.push_back(row);
      dosages.units.push_back(unit);
    }
    return dosages;
  }

  void append(const Dosages& more) {
    of_variants.insert(of_variants.end(), more.of_variants.begin(), more.of_variants.end());
    units.insert(units.end(), more.units.begin(), more.units.end());
  }
};

class MemoryDosages : public MemoryGenotypes {
 public:
  explicit MemoryDosages(Dosages dosages)
      : MemoryGenotypes({dosages.samples, {}}), dosages_(std::move(dosages)) {}
  std::int64_t variants() const override {
    return static_cast<std::int64_t>(dosages_.of_variants.size());
  }
  bool gives_dosages() const override { return true; }
  void read_dosages(std::int64_t first, std::int64_t n, Dosage* out, int* units) const override {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(first + j);
      std::copy(dosages_.of_variants[at].begin(), dosages_.of_variants[at].end(),
                out + j * samples());
      units[j] = dosages_.units[at];
    }
  }

 private:
  Dosages dosages_;
};

}  // namespace ancify
