// The hard calls and dosages of a BGEN file, variant by variant.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/genotype/bgen_index.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/io/file.h"

namespace ancify {

// Settings that turn a BGEN's probabilities into genotypes.
struct BgenRule {
  double hard_call_threshold = 0;  // see call_bgen_block()
  bool dosages = false;            // whether dosages are read too
};

// Makes calls or dosages of the probabilities of layout 2. The second allele is counted.
class BgenGenotypes final : public GenotypeFile {
 public:
  // `begins` come from the file's BgenIndex. Throws FormatError unless the file has this many
  // samples, and these places for variants.
  BgenGenotypes(InputFile file, std::int64_t samples, std::vector<std::int64_t> begins,
                const BgenRule& rule);
  const std::string& path() const override { return file_.path(); }
  std::int64_t samples() const override { return header_.samples; }
  std::int64_t variants() const override { return header_.variants; }
  // Throws FormatError also for a variant without exactly two alleles, or a sample with more
  // than two copies.
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  void will_read(std::int64_t first, std::int64_t n) const override;
  bool gives_dosages() const override { return rule_.dosages; }
  void read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages, int* units) const override;
  void check_unchanged() const override { file_.check_unchanged(); }

 private:
  using UseBlock = std::function<void(std::int64_t i, std::string_view block)>;
  // Calls use() for variants [first, first + n), counted from `first`.
  void for_each_block(std::int64_t first, std::int64_t n, const UseBlock& use) const;

  InputFile file_;
  BgenHeader header_;
  std::vector<std::int64_t> begins_;  // and the end of the file
  BgenRule rule_;
};

}  // namespace ancify
