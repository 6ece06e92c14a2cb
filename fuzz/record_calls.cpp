// Fuzzes the packing of a VCF's or BCF's genotypes: a slow, plain reader finds the same calls and
// dosages, or an error too.
#include "core/formats/genotype/record_calls.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/genotype/memory_genotypes.h"
#include "core/formats/variant/variant_file.h"
#include "genotypes.h"

// htslib leaks a few bytes of damaged files.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhts.so"; }
// htslib allocates as many bytes as a damaged file claims. Large allocations must fail, so that it
// stops.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

namespace ancify::fuzz {

namespace {

bool is_base(std::string_view allele) {
  return allele == "A" || allele == "C" || allele == "G" || allele == "T" || allele == "a" ||
         allele == "c" || allele == "g" || allele == "t";
}

bool is_snp(const std::string_view ref, std::string_view alt) {
  return is_base(ref) && is_base(alt) && std::toupper(ref[0]) != std::toupper(alt[0]);
}

// A call of an ALT allele as text; empty for a genotype of three alleles, which is an error.
std::string slow_call(const Genotypes& genotypes, std::size_t sample, int alt) {
  const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
  std::vector<int> alleles(
      genotypes.alleles.begin() + static_cast<std::ptrdiff_t>(sample * ploidy),
      genotypes.alleles.begin() + static_cast<std::ptrdiff_t>((sample + 1) * ploidy));
  alleles.erase(std::find(alleles.begin(), alleles.end(), kNoAllele), alleles.end());
  if (alleles.size() > 2) return {};
  if (alleles.empty() || std::count(alleles.begin(), alleles.end(), kMissingAllele) > 0) return ".";
  const auto copies = std::count(alleles.begin(), alleles.end(), alt);
  return std::to_string(alleles.size() == 1 ? 2 * copies : copies);
}

// A line for each SNP; empty for a genotype of three alleles.
std::string read_slowly(const std::string& path, bool split) {
  VariantReader reader(path, 0, RecordParts::kGenotypes);
  const std::size_t samples = reader.samples().size();
  std::string text;
  while (reader.next()) {
    if (reader.alleles() > 2 && !split) continue;
    for (int alt = 1; alt < reader.alleles(); ++alt) {
      if (!is_snp(reader.allele(0), reader.allele(alt))) continue;
      const Genotypes& genotypes = reader.genotypes();
      if (genotypes.ploidy == 0) continue;
      for (std::size_t i = 0; i < samples; ++i) {
        const std::string call = slow_call(genotypes, i, alt);
        if (call.empty()) return {};
        text += call;
      }
      text += '\n';
    }
  }
  return text;
}

// The copies that DS says a sample has of an ALT allele; NaN for none, and less than 0 for an
// error.
double copies_of_ds(const SampleNumbers& numbers, std::size_t sample, int at, bool haploid) {
  if (numbers.per_sample <= at) return -1;
  const auto per_sample = static_cast<std::size_t>(numbers.per_sample);
  const double copies = numbers.values[sample * per_sample + static_cast<std::size_t>(at)];
  const double scale = haploid ? 2 : 1;
  return copies * scale > 2 ? -1 : copies * scale;
}

// The dosages of DS, or of calls where it is missing, agree with `found`'s; false if the
// file must be refused.
bool agree_with_ds(const std::string& path, const RecordRule& rule, const GenotypeFile& found) {
  VariantReader reader(path, 0, RecordParts::kGenotypes);
  std::vector<Dosage> dosages(static_cast<std::size_t>(found.samples()));
  int unit = 0;
  std::int64_t variant = 0;
  while (reader.next()) {
    if (reader.alleles() > 2 && !rule.split) continue;
    for (int alt = 1; alt < reader.alleles(); ++alt) {
      if (!is_snp(reader.allele(0), reader.allele(alt))) continue;
      const SampleNumbers& numbers = reader.sample_numbers("DS");
      const Genotypes& genotypes = reader.genotypes();
      if (genotypes.ploidy == 0 && numbers.per_sample == 0) continue;
      if (variant == found.variants()) return false;
      found.read_dosages(variant++, 1, dosages.data(), &unit);
      for (std::size_t i = 0; i < dosages.size(); ++i) {
        const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
        const int* const alleles = genotypes.alleles.data() + i * ploidy;
        const bool haploid =
            ploidy > 0 && alleles[0] != kNoAllele && (ploidy == 1 || alleles[1] == kNoAllele);
        const std::string call = ploidy == 0 ? "." : slow_call(genotypes, i, alt);
        if (call.empty()) return false;
        double copies = std::nan("");
        if (numbers.per_sample > 0) {
          copies = copies_of_ds(numbers, i, reader.stored_index(alt) - 1, haploid);
        }
        if (copies < 0) return false;
        if (std::isnan(copies) && call != ".") copies = std::stod(call);
        require(std::isnan(copies) == (dosages[i] == kMissingDosage), "another missing dosage");
        if (std::isnan(copies)) continue;
        const double read = 1 + static_cast<double>(dosages[i]) / unit;
        require(std::abs(read - copies) < 0.5001 / (unit == kMostUnit ? unit : 1e6),
                "another dosage");
      }
    }
  }
  return variant == found.variants();
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  RecordRule rule = {Choices(input).below(2) == 1};
  const std::vector<std::string> ds = {"DS"};
  for (const auto& fields : {std::vector<std::string>(), ds, {"DS", "GP"}}) {
    rule.dosage_fields = fields;
    bool agrees = true;
    const std::string calls = outcome([&] {
      JobControl control;
      const RecordCalls found = read_record_calls(path, rule, 1, control);
      const auto variants = static_cast<std::int64_t>(found.variants.position.size());
      const PackedGenotypes& packed = found.genotypes;
      const bool has_dosages = !packed.units.empty();
      const MemoryGenotypes file(
          path,
          {packed.calls.data(), has_dosages ? packed.dosages.data() : nullptr,
           has_dosages ? packed.units.data() : nullptr},
          static_cast<std::int64_t>(found.samples.size()), variants);
      if (has_dosages && fields == ds) agrees = agree_with_ds(path, rule, file);
      return calls_of(file, 0, variants);
    });
    if (is_error(calls)) continue;
    require(agrees, "dosages that must be refused");
    if (fields.empty())
      require_equal(calls, read_slowly(path, rule.split), "the calls and the slow way");
  }
}

}  // namespace ancify::fuzz
