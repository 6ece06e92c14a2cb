// Makes copies of the numbers of DS and GP.
#include "core/formats/genotype/sample_copies.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/packed_dosages.h"

namespace ancify {

namespace {

// The values of a VCF are floats, of which GP has several. Copies are exact to this.
constexpr double kErrorOfFloats = 5e-7;

// The number whose text, of up to six decimals, became this float. PLINK 2 rounds that number.
double written_number(float number) {
  constexpr double decimals = 1e6;
  const double written = std::round(number * decimals) / decimals;
  return static_cast<float>(written) == number ? written : number;
}

double copies_of_ds(const DosedAllele& allele, const DosedSample& sample, const char** problem) {
  const int at = allele.number - 1;
  if (sample.n <= at) {
    *problem = "not one number for each ALT allele";
    return 0;
  }
  const double copies = written_number(sample.numbers[at]);
  if (copies < 0 || copies > (sample.haploid ? 1 : 2)) *problem = "a dosage beyond its copies";
  return sample.haploid ? 2 * copies : copies;
}

// The expected copies by probabilities of genotypes, which are in the order of VCF: a genotype of
// alleles j <= k is at k * (k + 1) / 2 + j.
double copies_of_gp(const DosedAllele& allele, const DosedSample& sample, const char** problem) {
  const float* probability = sample.numbers;
  const int genotypes = sample.haploid ? allele.alleles : allele.alleles * (allele.alleles + 1) / 2;
  if (sample.n == 0 || std::isnan(probability[0])) return std::nan("");
  if (sample.n < genotypes) {
    *problem = "not one number for each genotype";
    return 0;
  }
  double sum = 0;
  double copies = 0;
  for (int k = 0; k < allele.alleles; ++k) {
    for (int j = sample.haploid ? k : 0; j <= k; ++j, ++probability) {
      if (!(*probability >= 0 && *probability <= 1)) *problem = "a number that is no probability";
      sum += *probability;
      copies += *probability * ((j == allele.number ? 1 : 0) + (k == allele.number ? 1 : 0));
    }
  }
  return sum > 0 ? copies / sum : std::nan("");
}

}  // namespace

DosageField dosage_field_of(const std::string& name) {
  return name == "DS" ? DosageField::kCopies : DosageField::kProbabilities;
}

bool any_number(const std::vector<float>& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](float x) { return !std::isnan(x); });
}

const char* SampleCopies::add(DosageField field, const DosedAllele& allele,
                              const DosedSample& sample) {
  const char* problem = nullptr;
  double copies = std::nan("");
  if (sample.n > 0) {
    copies = field == DosageField::kCopies ? copies_of_ds(allele, sample, &problem)
                                           : copies_of_gp(allele, sample, &problem);
  }
  if (std::isnan(copies) && sample.call != kMissingCall) {
    copies = sample.call;
    ++called_;
  } else if (sample.haploid && copies == 1) {
    halves_.push_back(static_cast<std::int64_t>(copies_.size()));
  }
  copies_.push_back(copies);
  return problem;
}

void SampleCopies::pack(PackedGenotypes& packed, DosageCounts& counts) {
  const std::size_t begin = packed.calls.size();
  counts.rounded += add_dosages(copies_, kErrorOfFloats, packed);
  std::uint8_t* const calls = packed.calls.data() + begin;
  for (const std::int64_t i : halves_) {
    calls[i / 4] = static_cast<std::uint8_t>(calls[i / 4] | kMissingCall << 2 * (i % 4));
  }
  counts.called += called_;
  *this = {};
}

}  // namespace ancify
