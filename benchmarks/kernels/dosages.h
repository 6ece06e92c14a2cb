// Random dosages in memory, in steps of 1 / 255 as in a BGEN of 8 bits.
#pragma once

#include <memory>

#include "genotypes.h"

namespace ancify::bench {

// Calls with a doubt of up to a quarter of a copy.
class RandomDosages : public RandomGenotypes {
 public:
  using RandomGenotypes::RandomGenotypes;
  bool gives_dosages() const override { return true; }
  void read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                    int* units) const override {
    RandomGenotypes::read_dosages(first, n, dosages, units);
    for (std::int64_t k = 0; k < n * samples(); ++k) {
      const auto doubt = static_cast<int>(k * 7919 >> 3 & 63);
      dosages[k] = static_cast<Dosage>(255 * dosages[k] + (dosages[k] > 0 ? -doubt : doubt));
    }
    std::fill_n(units, n, 255);
  }
};

inline std::unique_ptr<GenotypeMatrix> random_dosages(std::int64_t samples, std::int64_t variants,
                                                      const GenotypeWork& work,
                                                      JobControl& control) {
  return matrix_of(std::make_unique<RandomDosages>(samples, variants, kCommon), work, control);
}

}  // namespace ancify::bench
