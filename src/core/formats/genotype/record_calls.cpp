// Packs the genotypes of a variant file, record by record.
#include "core/formats/genotype/record_calls.h"

#include <cstddef>
#include <limits>
#include <string_view>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/formats/variant/variant_file.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr int kDiploid = 2;

// The call of allele `alt` among a sample's alleles; none for one with more than two.
unsigned call_of(const int* alleles, int ploidy, int alt) {
  int n = 0;
  int copies = 0;
  for (int k = 0; k < ploidy && alleles[k] != kNoAllele; ++k, ++n) {
    if (alleles[k] == kMissingAllele) return kMissingCall;
    copies += alleles[k] == alt ? 1 : 0;
  }
  if (n == 0) return kMissingCall;
  return static_cast<unsigned>(n == 1 ? kDiploid * copies : copies);
}

class CallReader {
 public:
  CallReader(const std::string& path, bool split, int threads, JobControl& control)
      : reader_(path, threads - 1, RecordParts::kGenotypes, control.inputs()), split_(split) {
    found_.samples = reader_.samples();
    if (found_.samples.empty()) {
      throw FormatError(path, 0, "the file has no samples, and so no genotypes");
    }
    for (const std::string& sample : found_.samples) {
      if (is_utf8(sample)) continue;
      throw FormatError(path, 0,
                        "the name of the sample " + excerpt(sample) + " is not UTF-8 text");
    }
  }

  RecordCalls read(JobControl& control) {
    ReadingProgress progress(reader_.path(), control);
    const TaskContext context(control);
    while (reader_.next()) {
      context.throw_if_stopped();
      progress.record(reader_);
      take_record();
    }
    return std::move(found_);
  }

 private:
  void take_record() {
    const int alts = reader_.alleles() - 1;
    if (alts > 1 && !split_) {
      ++found_.multiallelic;
      return;
    }
    std::vector<int> snps;
    for (int alt = 1; alt <= alts; ++alt) {
      if (are_snp_alleles(reader_.allele(0), reader_.allele(alt))) snps.push_back(alt);
    }
    if (snps.empty()) {
      ++found_.not_snp;
    } else if (const Genotypes& genotypes = reader_.genotypes(); genotypes.ploidy == 0) {
      ++found_.without_genotypes;
    } else {
      if (alts > 1) ++found_.split;
      for (const int alt : snps) add(genotypes, alt);
    }
  }

  void add(const Genotypes& genotypes, int alt) {
    if (reader_.position() > std::numeric_limits<std::int32_t>::max()) {
      reader_.fail("its position is beyond 2147483647");
    }
    if (!is_utf8(reader_.id()) || !is_utf8(reader_.chromosome())) {
      reader_.fail("its ID or chromosome is not UTF-8 text");
    }
    VariantTable& table = found_.variants;
    table.chromosome.add(reader_.chromosome());
    table.id.add(reader_.id());
    table.position.push_back(static_cast<std::int32_t>(reader_.position()));
    table.counted.add(reader_.allele(alt));
    table.other.add(reader_.allele(0));
    const auto n = static_cast<std::int64_t>(found_.samples.size());
    const std::size_t begin = found_.calls.size();
    found_.calls.resize(begin + static_cast<std::size_t>((n + 3) / 4));
    std::uint8_t* const calls = found_.calls.data() + begin;
    for (std::int64_t i = 0; i < n; ++i) {
      const int* const alleles = genotypes.alleles.data() + i * genotypes.ploidy;
      if (genotypes.ploidy > kDiploid && alleles[kDiploid] != kNoAllele) refuse_ploidy(i);
      set_call(calls, i, call_of(alleles, genotypes.ploidy, alt));
    }
  }

  [[noreturn]] void refuse_ploidy(std::int64_t sample) const {
    reader_.fail("sample " + excerpt(found_.samples[static_cast<std::size_t>(sample)]) +
                 " has more than two alleles, but genotypes here have one or two. Leave the "
                 "sample or the record out");
  }

  VariantReader reader_;
  bool split_;
  RecordCalls found_;
};

}  // namespace

RecordCalls read_record_calls(const std::string& path, bool split, int threads,
                              JobControl& control) {
  return CallReader(path, split, in_forked_child() ? 1 : threads, control).read(control);
}

}  // namespace ancify
