// Files of genotypes: hard calls, and dosages of some formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

// A sample's dosage, the expected number of copies of the counted allele, as its distance from one
// copy in steps of 1 / unit: no copy is -unit, two copies are unit.
using Dosage = std::int16_t;
constexpr Dosage kMissingDosage = INT16_MIN;
// The largest unit, which PLINK 2 uses.
constexpr int kMostUnit = 1 << 14;

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
  // Lets the system begin to read these variants, without waiting. Only a hint.
  virtual void will_read(std::int64_t /*first*/, std::int64_t /*n*/) const {}
  // True if read_dosages() gives more than the calls.
  virtual bool gives_dosages() const { return false; }
  // Reads `n` variants' dosages, `samples()` each, and each variant's unit. Threads and errors as
  // for read(). Without dosages, calls are dosages in units of 1.
  virtual void read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages, int* units) const;
  // The number of variants with dosages, whether or not they are read.
  virtual std::int64_t with_dosages() const { return 0; }
  // Throws FileError if the file has changed since it was opened. Call it at the end of reading.
  virtual void check_unchanged() const = 0;
};

constexpr unsigned kMissingCall = 3;

// A variant's calls as dosages, in steps of 1 / unit.
void calls_as_dosages(const std::uint8_t* calls, std::int64_t samples, int unit, Dosage* dosages);

// The largest counts of samples, and of variants of this many samples, that the size of a BED or
// the header of a PGEN allows. Throws FormatError for other files.
std::int64_t most_samples(const std::string& path);
std::int64_t most_variants(const std::string& path, std::int64_t samples);

// Opens a BED or PGEN file, distinguished by content. `samples` and `variants` are the counts in
// the accompanying tables. `alts` holds each variant's number of ALT alleles; it is empty if all
// have one. A PGEN gives each ALT allele as a variant of the result, and its dosages if `dosages`.
// Throws FormatError if the file has another size, format or order, and InputError for several ALT
// alleles in a BED.
std::unique_ptr<GenotypeFile> open_genotype_file(const std::string& path, std::int64_t samples,
                                                 std::int64_t variants,
                                                 const InputIdentities& inputs = {},
                                                 const std::vector<int>& alts = {},
                                                 bool dosages = false);

}  // namespace ancify
