// Collects the numbers of copies that fields of FORMAT give of an ALT allele, sample by sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/genotype/memory_genotypes.h"

namespace ancify {

// A field with dosages: DS, the copies of each ALT, or GP, the probabilities of genotypes.
enum class DosageField : std::uint8_t { kCopies, kProbabilities };
DosageField dosage_field_of(const std::string& name);

// An ALT allele, by its number, from 1, among all `alleles` that fields have numbers for.
struct DosedAllele {
  int number;
  int alleles;
};

// A sample's `n` numbers in the field, NaN if absent, and its call, which may be haploid.
struct DosedSample {
  const float* numbers;
  int n;
  unsigned call;
  bool haploid;
};

// The source of a file's dosages.
struct DosageCounts {
  std::string field;         // the first wanted one that is declared; empty for none
  std::int64_t of_next = 0;  // records whose dosages are of the next field
  std::int64_t rounded = 0;  // dosages that are rounded to 1 / kMostUnit
  std::int64_t called = 0;   // genotypes without a dosage that have a call
};

class SampleCopies {
 public:
  // Adds a sample to the variant. A haploid dosage counts twice; a sample without a dosage has its
  // call. Returns the problem of invalid values; null if they are valid.
  const char* add(DosageField field, const DosedAllele& allele, const DosedSample& sample);
  // Packs the variant, and begins the next one.
  void pack(PackedGenotypes& packed, DosageCounts& counts);

 private:
  std::vector<double> copies_;
  std::vector<std::int64_t> halves_;  // haploid samples with a dosage of 0.5, which is no call
  std::int64_t called_ = 0;
};

// True if any number is present.
bool any_number(const std::vector<float>& numbers);

}  // namespace ancify
