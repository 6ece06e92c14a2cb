// Fuzzes VCF and BCF, read by htslib: reading ends with records or an error. Also exchanges
// alleles.
#include <filesystem>

#include "core/ancestry/variants/record_kind.h"
#include "core/formats/variant/variant_file.h"
#include "harness.h"

// htslib leaks a few bytes of damaged files.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhts.so"; }
// htslib allocates as many bytes as a damaged file claims. Large allocations must fail, so that it
// gives up.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

namespace ancify::fuzz {

namespace {

// Reads the counts of a population by fields of INFO, with and without judging them.
void read_counts(VariantReader& reader, const CountFields& fields) {
  const auto stated = reader.stated_counts(fields);
  if (!stated) return require(!reader.info_counts(fields), "counts where none are stated");
  require(reader.alleles() == 2 && stated->copies >= 0, "the copies");
  const bool is_possible = stated->copies <= stated->called;
  const bool is_refused = is_error(outcome([&] {
    reader.info_counts(fields);
    return "good";
  }));
  require(is_possible != is_refused, "the check of counts");
}

std::string text_of(VariantReader& reader, RecordParts parts) {
  std::string text(reader.chromosome());
  text += ":" + std::to_string(reader.position());
  for (int i = 0; i < reader.alleles(); ++i) text.append(" ").append(reader.allele(i));
  if (parts == RecordParts::kAlleles) return text;
  text.append(" ").append(reader.info_text("AA").value_or("-"));
  for (const float value : reader.info_numbers("AF")) text += " " + std::to_string(value);
  require(reader.end() >= reader.position() || reader.allele(0).empty(), "the end of a record");
  for (const char* population : {"", "_a"}) {
    read_counts(reader, {std::string("AC") + population, std::string("AN") + population});
  }
  if (parts == RecordParts::kInfo) return text;
  const Genotypes& genotypes = reader.genotypes();
  require(genotypes.alleles.size() ==
              static_cast<std::size_t>(genotypes.ploidy) * reader.samples().size(),
          "the number of alleles");
  for (const int allele : genotypes.alleles) text += " " + std::to_string(allele);
  const SampleNumbers& depths = reader.sample_numbers("DP");
  require(
      depths.values.size() == static_cast<std::size_t>(depths.per_sample) * reader.samples().size(),
      "the number of depths");
  for (const float depth : depths.values) text += " " + std::to_string(depth);
  return text;
}

std::string read(const std::string& path, RecordParts parts) {
  return outcome([&] {
    VariantReader reader(path, 0, parts);
    outcome([&] {
      reader.require_declared({"AC_a", "AN_a"});
      return "good";
    });
    std::string text;
    while (reader.next()) text += text_of(reader, parts) + "\n";
    return text;
  });
}

std::string exchange(const std::string& path) {
  static const std::string out =
      (std::filesystem::temp_directory_path() / ("fuzz-" + std::to_string(getpid()) + ".vcf"))
          .string();
  return outcome([&] {
    VariantReader reader(path, 0, RecordParts::kGenotypes);
    HeaderAdditions additions;
    additions.fields = {{"ORIG_REF", "1", "String", "REF as it was"}};
    VariantWriter writer(reader, out, additions);
    while (reader.next()) {
      if (reader.alleles() == 2 && has_only_bases(reader.allele(0)) &&
          has_only_bases(reader.allele(1))) {
        writer.swap_alleles("ORIG_REF");
      }
      writer.write();
    }
    return "good";
  });
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  Choices choices(input);
  read(path, static_cast<RecordParts>(choices.below(3)));
  constexpr std::size_t files_are_slow = 4;
  if (choices.one_in(files_are_slow)) exchange(path);
}

}  // namespace ancify::fuzz
