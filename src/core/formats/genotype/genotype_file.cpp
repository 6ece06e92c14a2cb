// Tells the formats of genotypes apart by a file's first bytes.
#include "core/formats/genotype/genotype_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/bed_genotypes.h"
#include "core/formats/genotype/pgen_genotypes.h"
#include "core/io/file.h"

namespace ancify {

namespace {

using Magic = std::array<unsigned char, 3>;

Magic first_bytes(const InputFile& file) {
  Magic magic = {};
  const auto n = static_cast<std::size_t>(std::min<std::int64_t>(magic.size(), file.size()));
  file.read_at(reinterpret_cast<char*>(magic.data()), n, 0);
  return magic;
}

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw FormatError(path, 0, problem);
}

}  // namespace

std::unique_ptr<GenotypeFile> open_genotype_file(const std::string& path, std::int64_t samples,
                                                 std::int64_t variants,
                                                 const InputIdentities& inputs) {
  if (samples < 1 || variants < 1) {
    throw InputError("genotypes must have at least one sample and one variant");
  }
  InputFile file(path, inputs);
  const Magic magic = first_bytes(file);
  if (magic[0] == 0x1f && magic[1] == 0x8b) {
    refuse(path, "the file is compressed. Inflate it with gunzip, as genotypes are read anywhere");
  }
  if (magic[0] != 0x6c || magic[1] != 0x1b) {
    refuse(path, "not a BED or PGEN file, which begins with the bytes 6c 1b");
  }
  switch (magic[2]) {
    case 0x00:
      refuse(path,
             "its genotypes are stored sample by sample. Write them variant by variant with "
             "plink1.9 --make-bed");
    case 0x01:
      return std::make_unique<BedGenotypes>(std::move(file), samples, variants);
    case 0x02:
    case 0x10:
      return std::make_unique<PgenGenotypes>(std::move(file), samples, variants);
    default:
      refuse(path, "a PGEN file of the storage mode " + std::to_string(magic[2]) +
                       ", which is not read. Write it again with plink2 --make-pgen erase-phase "
                       "erase-dosage");
  }
}

}  // namespace ancify
