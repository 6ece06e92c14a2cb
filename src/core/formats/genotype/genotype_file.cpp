// Distinguishes genotype formats by a file's first bytes.
#include "core/formats/genotype/genotype_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
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

// True if the index of a PGEN of this storage mode is a file of its own, whose mode is 10 higher.
bool has_index_file(unsigned mode) { return mode == 0x20 || mode == 0x21; }
constexpr unsigned kIndexMode = 0x10;

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

// Opens the index of a PGEN, if that is a file of its own.
std::optional<InputFile> open_index(const std::string& path, const Magic& magic,
                                    const InputIdentities& inputs) {
  if (!has_index_file(magic[2])) return std::nullopt;
  const std::string index = path + ".pgi";
  std::error_code error;  // set for a missing file
  if (!std::filesystem::exists(index, error)) {
    throw FileError(index, "there is no such file, but '" + path +
                               "' has its index there. Put it beside, or write a PGEN with its own "
                               "index with plink2 --make-pgen");
  }
  InputFile file(index, inputs);
  const Magic start = first_bytes(file);
  if (start[0] != magic[0] || start[1] != magic[1] || start[2] != magic[2] + kIndexMode) {
    refuse(index, "not the index of '" + path + "', which begins with the bytes 6c 1b 3" +
                      std::to_string(magic[2] % 2));
  }
  return file;
}

// The first bytes of the file that has a PGEN's counts, and its size.
std::pair<Magic, std::int64_t> header_of(const std::string& path) {
  const InputFile file(path);
  const Magic magic = first_bytes(file);
  check_magic(path, magic);
  const auto index = open_index(path, magic, {});
  return index ? std::pair(first_bytes(*index), index->size()) : std::pair(magic, file.size());
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
  const auto [magic, size] = header_of(path);
  return magic[2] < kFirstPgenMode ? 4 * size : little_endian(&magic[7], 4);
}

std::int64_t most_variants(const std::string& path, std::int64_t samples) {
  const auto [magic, size] = header_of(path);
  if (magic[2] < kFirstPgenMode) return size / ((samples + 3) / 4);
  return std::min(size, little_endian(&magic[3], 4));
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
    case 0x11:
    case 0x20:
    case 0x21:
      return std::make_unique<PgenGenotypes>(std::move(file), open_index(path, magic, inputs),
                                             samples, variants, alts, dosages);
    case 0x30:
    case 0x31:
      refuse(path, "the index of a PGEN. Open the PGEN, whose name is that without .pgi");
    default:
      refuse(path, "a PGEN file of the storage mode " + std::to_string(magic[2]) +
                       ", with an unknown layout, which is not read. Write the usual one with "
                       "plink2 --make-pgen");
  }
}

}  // namespace ancify
