// The hard calls of a BGEN file, variant by variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/genotype/bgen_index.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/io/file.h"

namespace ancify {

// Makes calls of the probabilities of layout 2, see call_bgen_block(). The second allele is
// counted.
class BgenGenotypes final : public GenotypeFile {
 public:
  // `begins` are those of the file's BgenIndex. Throws FormatError unless the file has this many
  // samples, and these places for variants.
  BgenGenotypes(InputFile file, std::int64_t samples, std::vector<std::int64_t> begins,
                double hard_call_threshold);
  const std::string& path() const override { return file_.path(); }
  std::int64_t samples() const override { return header_.samples; }
  std::int64_t variants() const override { return header_.variants; }
  // Throws FormatError also for a variant that has not two alleles, or a sample that has more
  // than two copies.
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  void check_unchanged() const override { file_.check_unchanged(); }

 private:
  InputFile file_;
  BgenHeader header_;
  std::vector<std::int64_t> begins_;  // and the end of the file
  double threshold_;
};

}  // namespace ancify
