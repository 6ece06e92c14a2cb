// The hard calls of a PLINK 2 PGEN file, variant by variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/genotype/genotype_file.h"
#include "core/io/file.h"

namespace ancify {

// Reads the two usual storage modes, 02 (calls of 2 bits) and 10 (records of any length). From
// phased calls and dosages it reads only the hard calls. Each ALT allele is a variant of its own.
// The index takes nine bytes per variant.
class PgenGenotypes final : public GenotypeFile {
 public:
  // Throws FormatError unless the file has this many samples and variants, with these numbers of
  // ALT alleles (`alts`, or one each).
  PgenGenotypes(InputFile file, std::int64_t samples, std::int64_t variants,
                const std::vector<int>& alts);
  const std::string& path() const override { return file_.path(); }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return rows_.empty() ? variants_ : rows_.back(); }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  std::int64_t with_dosages() const override;
  void check_unchanged() const override { file_.check_unchanged(); }

 private:
  // The bytes from `offset` on; throws FormatError if the file ends earlier.
  std::vector<std::uint8_t> bytes_at(std::int64_t offset, std::int64_t n) const;
  void check_counts(std::int64_t samples, std::int64_t variants) const;
  void index_calls(unsigned control);
  void index_records(unsigned control);
  // Reads the index of a block of variants, which begins at `offset`. Returns the offset of its
  // end.
  std::int64_t index_block(unsigned control, std::int64_t first, std::int64_t n,
                           std::int64_t offset);
  void check_record(std::int64_t variant) const;
  void check_alts(std::int64_t variant, std::int64_t in_index) const;
  std::int64_t alts_of(std::int64_t variant) const;
  // Reads hard calls that count all ALT alleles.
  void read_calls(std::int64_t first, std::int64_t n, std::uint8_t* calls) const;
  // Reads the copies of ALT alleles [alt, end), from 0.
  void read_alts(std::int64_t variant, std::int64_t alt, std::int64_t end,
                 std::uint8_t* calls) const;
  void decode(std::int64_t variant, const char* record, const std::uint8_t* base,
              std::uint8_t* calls) const;
  // Reads the calls of the last earlier variant to which a list of differences may refer.
  std::vector<std::uint8_t> read_base(std::int64_t variant) const;
  [[noreturn]] void refuse(const std::string& problem) const;
  [[noreturn]] void refuse_variant(std::int64_t variant, const std::string& problem) const;
  [[noreturn]] void refuse_record(std::int64_t variant, const char* problem) const;

  InputFile file_;
  std::int64_t samples_;
  std::int64_t variants_;
  std::vector<std::uint8_t> types_;
  std::vector<std::int64_t> begins_;  // and the end of the last record
  std::vector<std::int64_t> rows_;    // the sum of ALT alleles before each variant, and of all;
                                      // empty if all have one
};

}  // namespace ancify
