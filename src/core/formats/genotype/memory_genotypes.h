// Calls and dosages in memory, as a GenotypeFile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

// Genotypes in memory, variant by variant, in the forms of GenotypeFile.
struct PackedGenotypes {
  std::vector<std::uint8_t> calls;
  std::vector<Dosage> dosages;  // empty for hard calls alone
  std::vector<int> units;
};

// The addresses of packed genotypes. Without dosages, the last two are null.
struct GenotypesInMemory {
  const std::uint8_t* calls = nullptr;
  const Dosage* dosages = nullptr;
  const int* units = nullptr;
};

class MemoryGenotypes final : public GenotypeFile {
 public:
  // The genotypes are not copied. `name` stands for a path.
  MemoryGenotypes(std::string name, const GenotypesInMemory& genotypes, std::int64_t samples,
                  std::int64_t variants)
      : name_(std::move(name)), genotypes_(genotypes), samples_(samples), variants_(variants) {}
  const std::string& path() const override { return name_; }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return variants_; }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override {
    std::copy_n(genotypes_.calls + first * stride(), n * stride(), calls);
  }
  bool gives_dosages() const override { return genotypes_.dosages != nullptr; }
  void read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                    int* units) const override {
    if (!gives_dosages()) {
      GenotypeFile::read_dosages(first, n, dosages, units);
      return;
    }
    std::copy_n(genotypes_.dosages + first * samples_, n * samples_, dosages);
    std::copy_n(genotypes_.units + first, n, units);
  }
  void check_unchanged() const override {}

 private:
  std::string name_;
  GenotypesInMemory genotypes_;
  std::int64_t samples_;
  std::int64_t variants_;
};

}  // namespace ancify
