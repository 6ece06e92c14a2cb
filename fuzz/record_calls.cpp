// Fuzzes the packing of a VCF's or BCF's genotypes: a slow, plain reader finds the same calls, or
// an error too.
#include "core/formats/genotype/record_calls.h"

#include <algorithm>
#include <cctype>
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
// gives up.
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

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  const bool split = Choices(input).below(2) == 1;
  const std::string calls = outcome([&] {
    JobControl control;
    const RecordCalls found = read_record_calls(path, split, 1, control);
    const auto variants = static_cast<std::int64_t>(found.variants.position.size());
    const MemoryGenotypes file(path, found.calls.data(),
                               static_cast<std::int64_t>(found.samples.size()), variants);
    return calls_of(file, 0, variants);
  });
  if (is_error(calls)) return;
  require_equal(calls, read_slowly(path, split), "the calls and the slow way");
}

}  // namespace ancify::fuzz
