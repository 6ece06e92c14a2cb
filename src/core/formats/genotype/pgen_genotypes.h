// The hard calls of a PLINK 2 PGEN file, variant by variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/genotype/genotype_file.h"
#include "core/io/file.h"

namespace ancify {

// Reads files of the storage modes 02 (calls of 2 bits) and 10 (records of any length), the usual
// ones. Its index takes nine bytes a variant.
class PgenGenotypes final : public GenotypeFile {
 public:
  // FormatError unless the file has these numbers of samples and variants, and hard calls alone.
  PgenGenotypes(InputFile file, std::int64_t samples, std::int64_t variants);
  const std::string& path() const override { return file_.path(); }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return variants_; }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  void check_unchanged() const override { file_.check_unchanged(); }

 private:
  // The bytes from `offset` on; FormatError if the file ends before.
  std::vector<std::uint8_t> bytes_at(std::int64_t offset, std::int64_t n) const;
  void check_counts(std::int64_t samples, std::int64_t variants) const;
  void index_calls(unsigned control);
  void index_records(unsigned control);
  // Reads the index of a block of variants, which begins at `offset`. Returns where it ends.
  std::int64_t index_block(unsigned control, std::int64_t first, std::int64_t n,
                           std::int64_t offset);
  void check_record(std::int64_t variant) const;
  void decode(std::int64_t variant, const char* record, const std::uint8_t* base,
              std::uint8_t* calls) const;
  // Reads the calls of the last variant before this one that a list of differences may be to.
  std::vector<std::uint8_t> read_base(std::int64_t variant) const;
  [[noreturn]] void refuse(const std::string& problem) const;
  [[noreturn]] void refuse_variant(std::int64_t variant, const std::string& problem) const;

  InputFile file_;
  std::int64_t samples_;
  std::int64_t variants_;
  std::vector<std::uint8_t> types_;
  std::vector<std::int64_t> begins_;  // and the end of the last record
};

}  // namespace ancify
