// The calls of a PLINK 1 BED file, variant by variant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/formats/genotype/genotype_file.h"
#include "core/io/file.h"

namespace ancify {

// The start of a BED file: its magic number, and the mark of variant-major order.
constexpr std::string_view kBedHeader = "\x6c\x1b\x01";

class BedGenotypes final : public GenotypeFile {
 public:
  // Throws FormatError unless the file has exactly the size for these samples and variants.
  BedGenotypes(InputFile file, std::int64_t samples, std::int64_t variants);
  const std::string& path() const override { return file_.path(); }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return variants_; }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  void will_read(std::int64_t first, std::int64_t n) const override;
  void check_unchanged() const override { file_.check_unchanged(); }

 private:
  InputFile file_;
  std::int64_t samples_;
  std::int64_t variants_;
};

}  // namespace ancify
