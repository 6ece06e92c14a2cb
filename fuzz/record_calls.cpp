// Fuzzes the packing of a VCF's or BCF's genotypes: a slow, plain reader finds the same calls, or
// an error too.
#include "core/formats/genotype/record_calls.h"

#include <algorithm>
#include <cctype>

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

// A line for each SNP; empty for a genotype of three alleles, which is an error.
std::string read_slowly(const std::string& path) {
  VariantReader reader(path, 0, RecordParts::kGenotypes);
  std::string text;
  while (reader.next()) {
    if (reader.alleles() != 2 || !is_base(reader.allele(0)) || !is_base(reader.allele(1))) continue;
    if (std::toupper(reader.allele(0)[0]) == std::toupper(reader.allele(1)[0])) continue;
    const Genotypes& genotypes = reader.genotypes();
    for (std::size_t i = 0; i < genotypes.alleles.size();
         i += static_cast<std::size_t>(genotypes.ploidy)) {
      std::string alleles;
      for (int k = 0; k < genotypes.ploidy; ++k) {
        const int allele = genotypes.alleles[i + static_cast<std::size_t>(k)];
        if (allele == kNoAllele) break;
        alleles += allele == kMissingAllele ? '.' : static_cast<char>('0' + allele);
      }
      if (alleles.size() > 2) return {};
      if (alleles.empty() || alleles.find('.') != std::string::npos) {
        text += '.';
      } else {
        if (alleles.size() == 1) alleles += alleles;
        text += "012"[alleles[0] - '0' + alleles[1] - '0'];
      }
    }
    if (genotypes.ploidy > 0) text += '\n';
  }
  return text;
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  const std::string calls = outcome([&] {
    JobControl control;
    const RecordCalls found = read_record_calls(path, 1, control);
    const auto variants = static_cast<std::int64_t>(found.variants.position.size());
    const MemoryGenotypes file(path, found.calls.data(),
                               static_cast<std::int64_t>(found.samples.size()), variants);
    return calls_of(file, 0, variants);
  });
  if (is_error(calls)) return;
  require_equal(calls, read_slowly(path), "the calls and the slow way");
}

}  // namespace ancify::fuzz
