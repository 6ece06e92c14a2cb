// The hard calls and dosages of a PLINK 2 PGEN file, variant by variant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/pgen_extensions.h"
#include "core/io/file.h"

namespace ancify {

// Reads the storage modes 02 (calls of 2 bits), 03 and 04 (dosages, phased or not) and 10 (records
// of any length), without phases; also 20, whose index is a file of its own, and 11 and 21, with
// extensions, which are skipped. Each ALT allele is a variant of its own. The index takes nine
// bytes per variant.
class PgenGenotypes final : public GenotypeFile {
 public:
  // Throws FormatError unless the file has this many samples and variants, with these numbers of
  // ALT alleles (`alts`, or one each). `index`: the file of the index, for the modes 20 and 21.
  // `dosages`: whether dosages are read too.
  PgenGenotypes(InputFile file, std::optional<InputFile> index, std::int64_t samples,
                std::int64_t variants, const std::vector<int>& alts, bool dosages);
  const std::string& path() const override { return file_.path(); }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return rows_.empty() ? variants_ : rows_.back(); }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  void will_read(std::int64_t first, std::int64_t n) const override;
  bool gives_dosages() const override { return gives_dosages_; }
  // Throws FormatError for dosages of several ALT alleles, which PLINK 2 does not read either.
  void read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages, int* units) const override;
  std::int64_t with_dosages() const override;
  void check_unchanged() const override;

 private:
  // The file that begins with the header and the index.
  const InputFile& header_file() const { return index_ ? *index_ : file_; }
  // The bytes of this file from `offset` on; throws FormatError if it ends earlier.
  std::vector<std::uint8_t> bytes_at(std::int64_t offset, std::int64_t n) const;
  void check_counts(std::int64_t samples, std::int64_t variants) const;
  void index_equal_records(unsigned mode, unsigned control);
  // Returns the offset of the index's end.
  std::int64_t index_records(unsigned control);
  // Reads the index of a block of variants, which begins at `offset`. Returns the offset of its
  // end.
  std::int64_t index_block(unsigned control, std::int64_t first, std::int64_t n,
                           std::int64_t offset);
  // The extensions at `offset` of the header.
  PgenExtensions extensions_at(std::int64_t offset) const;
  void check_header_end(std::int64_t end) const;
  void check_record(std::int64_t variant) const;
  void check_alts(std::int64_t variant, std::int64_t in_index) const;
  std::int64_t alts_of(std::int64_t variant) const;
  std::uint8_t type_of(std::int64_t variant) const {
    return types_[static_cast<std::size_t>(variant)];
  }
  // Calls with_one_alt(variant, n, place) for runs of variants, and with_several(variant, alt, end,
  // place) for the ALT alleles [alt, end) of a variant, counted from 0. `place` is the place of the
  // first among all n.
  template <class WithOneAlt, class WithSeveral>
  void for_each_run(std::int64_t first, std::int64_t n, const WithOneAlt& with_one_alt,
                    const WithSeveral& with_several) const;
  // Calls use(variant, record) for n variants, whose records are read together.
  template <class Use>
  void for_each_record(std::int64_t first, std::int64_t n, const Use& use) const;
  // Reads hard calls that count all ALT alleles.
  void read_calls(std::int64_t first, std::int64_t n, std::uint8_t* calls) const;
  // Reads the copies of ALT alleles [alt, end), from 0.
  void read_alts(std::int64_t variant, std::int64_t alt, std::int64_t end,
                 std::uint8_t* calls) const;
  // Reads the dosages of variants with one ALT allele each.
  void read_one_alt_dosages(std::int64_t first, std::int64_t n, Dosage* dosages, int* units) const;
  // Reads the calls of the last earlier variant to which a list of differences may refer.
  std::vector<std::uint8_t> read_base(std::int64_t variant) const;
  [[noreturn]] void refuse(const std::string& problem) const;
  [[noreturn]] void refuse_header(const std::string& problem) const;
  [[noreturn]] void refuse_variant(std::int64_t variant, const std::string& problem) const;
  [[noreturn]] void refuse_record(std::int64_t variant, const char* problem) const;

  InputFile file_;
  std::optional<InputFile> index_;
  std::int64_t samples_;
  std::int64_t variants_;
  bool gives_dosages_ = false;
  std::vector<std::uint8_t> types_;
  std::vector<std::int64_t> begins_;  // and the end of the last record
  std::vector<std::int64_t> rows_;    // the sum of ALT alleles before each variant, and of all;
                                      // empty if all have one
};

}  // namespace ancify
