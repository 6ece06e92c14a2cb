// Genotypes in which some calls count as missing, such as heterozygous calls of males on X.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

// Calls that count as missing at some variants. Variants and samples are indices in the file, from
// 0.
struct CallMask {
  std::vector<std::int64_t> variants;
  std::vector<std::int64_t> heterozygous;  // samples whose heterozygous calls are missing
  std::vector<std::int64_t> all;           // samples whose calls are all missing
};

class MaskedGenotypes final : public GenotypeFile {
 public:
  // If several masks have a variant, the last one counts. Throws InputError for an index beyond the
  // file.
  MaskedGenotypes(std::unique_ptr<GenotypeFile> file, const std::vector<CallMask>& masks);
  const std::string& path() const override { return file_->path(); }
  std::int64_t samples() const override { return file_->samples(); }
  std::int64_t variants() const override { return file_->variants(); }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  void will_read(std::int64_t first, std::int64_t n) const override { file_->will_read(first, n); }
  bool gives_dosages() const override { return file_->gives_dosages(); }
  // A dosage of exactly one copy is heterozygous if the call is; a haploid sample's call never
  // is.
  void read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages, int* units) const override;
  std::int64_t with_dosages() const override { return file_->with_dosages(); }
  void check_unchanged() const override { file_->check_unchanged(); }

 private:
  // The low bit of each masked sample's call, `stride()` bytes each.
  struct Bits {
    std::vector<std::uint8_t> heterozygous;
    std::vector<std::uint8_t> all;
  };
  std::vector<std::uint8_t> bits_of(const std::vector<std::int64_t>& samples) const;

  std::unique_ptr<GenotypeFile> file_;
  std::vector<Bits> bits_;
  std::vector<std::uint8_t> mask_of_;  // of each variant: the number of its mask from 1, or 0
};

}  // namespace ancify
