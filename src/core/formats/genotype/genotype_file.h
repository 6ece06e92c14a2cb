// Files of hard-called genotypes: PLINK 1 BED and PLINK 2 PGEN.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

// The calls of a file, variant by variant. A call is the number of copies of the counted allele (A1
// of a .bim, ALT of a .pvar) in 2 bits: 0, 1, 2, or kMissingCall. Sample i of a variant is in bits
// 2 * (i % 4) of byte i / 4; unused bits of the last byte are 0.
class GenotypeFile {
 public:
  virtual ~GenotypeFile() = default;
  virtual const std::string& path() const = 0;
  virtual std::int64_t samples() const = 0;
  virtual std::int64_t variants() const = 0;
  // The bytes of a variant's calls.
  std::int64_t stride() const { return (samples() + 3) / 4; }
  // Reads `n` variants from index `first` on, `stride()` bytes each. Several threads may read at
  // once. Throws FormatError, with the variant's number, for a bad record; FileError if the file
  // has become shorter.
  virtual void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const = 0;
  // The number of variants with dosages, which are not read.
  virtual std::int64_t with_dosages() const { return 0; }
  // Throws FileError if the file has changed since it was opened. Call it at the end of reading.
  virtual void check_unchanged() const = 0;
};

constexpr unsigned kMissingCall = 3;

// The largest numbers of samples, and of variants of this many samples, that the size of a BED or
// the header of a PGEN allows. Throws FormatError for other files.
std::int64_t most_samples(const std::string& path);
std::int64_t most_variants(const std::string& path, std::int64_t samples);

// Opens a BED or PGEN file, distinguished by content. `samples` and `variants` are the counts in
// the accompanying tables. `alts` holds each variant's number of ALT alleles; it is empty if all
// have one. A PGEN gives each ALT allele as a variant of the result. Throws FormatError if the file
// has another size, format or order, and InputError for several ALT alleles in a BED.
std::unique_ptr<GenotypeFile> open_genotype_file(const std::string& path, std::int64_t samples,
                                                 std::int64_t variants,
                                                 const InputIdentities& inputs = {},
                                                 const std::vector<int>& alts = {});

}  // namespace ancify
