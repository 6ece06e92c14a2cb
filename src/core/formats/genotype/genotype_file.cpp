// Distinguishes genotype formats by a file's first bytes.
#include "core/formats/genotype/genotype_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/bed_genotypes.h"
#include "core/formats/genotype/pgen_genotypes.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/io/file.h"
#include "core/io/little_endian.h"
#include "core/io/zstd_source.h"

namespace ancify {

namespace {

using Magic = std::array<std::uint8_t, 11>;  // followed by the counts of a PGEN
constexpr unsigned kFirstPgenMode = 0x02;

Magic first_bytes(const InputFile& file) {
  Magic magic = {};
  const auto n = static_cast<std::size_t>(std::min<std::int64_t>(magic.size(), file.size()));
  file.read_at(reinterpret_cast<char*>(magic.data()), n, 0);
  return magic;
}

// Names of the other storage modes of PGEN.
std::string name_of_mode(unsigned mode) {
  switch (mode) {
    case 0x11:
      return "an extended header";
    case 0x20:
    case 0x21:
      return "an index in a file of its own (.pgi)";
    default:
      return "an unknown layout";
  }
}

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw FormatError(path, 0, problem);
}

void check_magic(const std::string& path, const Magic& magic) {
  if (magic[0] == 0x1f && magic[1] == 0x8b) {
    refuse(path, "the file is compressed. Inflate it with gunzip, as genotypes are read anywhere");
  }
  if (is_zstd({reinterpret_cast<const char*>(magic.data()), magic.size()})) {
    refuse(path, "the file is compressed. Inflate it with zstd -d, as genotypes are read anywhere");
  }
  if (magic[0] != 0x6c || magic[1] != 0x1b) {
    refuse(path, "not a BED or PGEN file, which begins with the bytes 6c 1b");
  }
}

}  // namespace

void GenotypeFile::read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                                int* units) const {
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(stride()));
  for (std::int64_t j = 0; j < n; ++j, dosages += samples()) {
    read(first + j, 1, calls.data());
    calls_as_dosages(calls.data(), samples(), 1, dosages);
    units[j] = 1;
  }
}

void calls_as_dosages(const std::uint8_t* calls, std::int64_t samples, int unit, Dosage* dosages) {
  const auto two_copies = static_cast<Dosage>(unit);
  const auto no_copy = static_cast<Dosage>(-unit);
  const std::array<Dosage, 4> of_call = {no_copy, 0, two_copies, kMissingDosage};
  for (std::int64_t i = 0; i < samples; ++i) dosages[i] = of_call[call_at(calls, i)];
}

std::int64_t most_samples(const std::string& path) {
  const InputFile file(path);
  const Magic magic = first_bytes(file);
  check_magic(path, magic);
  return magic[2] < kFirstPgenMode ? 4 * file.size() : little_endian(&magic[7], 4);
}

std::int64_t most_variants(const std::string& path, std::int64_t samples) {
  const InputFile file(path);
  const Magic magic = first_bytes(file);
  check_magic(path, magic);
  if (magic[2] < kFirstPgenMode) return file.size() / ((samples + 3) / 4);
  return std::min(file.size(), little_endian(&magic[3], 4));
}

std::unique_ptr<GenotypeFile> open_genotype_file(const std::string& path, std::int64_t samples,
                                                 std::int64_t variants,
                                                 const InputIdentities& inputs,
                                                 const std::vector<int>& alts, bool dosages) {
  if (samples < 1 || variants < 1) {
    throw InputError("genotypes must have at least one sample and one variant");
  }
  InputFile file(path, inputs);
  const Magic magic = first_bytes(file);
  check_magic(path, magic);
  switch (magic[2]) {
    case 0x00:
      refuse(path,
             "its genotypes are stored sample by sample. Write them variant by variant with "
             "plink1.9 --make-bed");
    case 0x01:
      if (!alts.empty()) throw InputError("a BED has no variants of several ALT alleles");
      return std::make_unique<BedGenotypes>(std::move(file), samples, variants);
    case 0x02:
    case 0x03:
    case 0x04:
    case 0x10:
      return std::make_unique<PgenGenotypes>(std::move(file), samples, variants, alts, dosages);
    default:
      refuse(path, "a PGEN file of the storage mode " + std::to_string(magic[2]) + ", with " +
                       name_of_mode(magic[2]) +
                       ", which is not read. Write the usual one with plink2 --make-pgen");
  }
}

}  // namespace ancify
