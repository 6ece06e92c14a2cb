// Calls in memory, as a GenotypeFile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

class MemoryGenotypes final : public GenotypeFile {
 public:
  // `calls`, which are not copied, are `stride()` bytes for each variant. `name` stands for a path.
  MemoryGenotypes(std::string name, const std::uint8_t* calls, std::int64_t samples,
                  std::int64_t variants)
      : name_(std::move(name)), calls_(calls), samples_(samples), variants_(variants) {}
  const std::string& path() const override { return name_; }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return variants_; }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override {
    std::copy_n(calls_ + first * stride(), n * stride(), calls);
  }
  void check_unchanged() const override {}

 private:
  std::string name_;
  const std::uint8_t* calls_;
  std::int64_t samples_;
  std::int64_t variants_;
};

}  // namespace ancify
