// Packs the genotypes of a variant file, record by record.
#include "core/formats/genotype/record_calls.h"

#include <cstddef>
#include <limits>
#include <string_view>

#include "core/exec/errors.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/sample_copies.h"
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

// As for call_of(): a single allele, which may be missing.
bool is_haploid(const int* alleles, int ploidy) {
  return alleles[0] != kNoAllele && (ploidy == 1 || alleles[1] == kNoAllele);
}

const int* alleles_of(const Genotypes& genotypes, std::size_t sample) {
  return genotypes.alleles.data() + sample * static_cast<std::size_t>(genotypes.ploidy);
}

class CallReader {
 public:
  CallReader(const std::string& path, const RecordRule& rule, int threads, JobControl& control)
      : reader_(path, threads - 1, RecordParts::kGenotypes, control.inputs()), split_(rule.split) {
    for (const std::string& field : rule.dosage_fields) {
      if (reader_.declares_sample_field(field.c_str())) fields_.push_back(field);
    }
    if (!fields_.empty()) found_.dosages.field = fields_[0];
    found_.unread_dosages = rule.dosage_fields.empty() && reader_.declares_sample_field("DS");
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
    for_each_record(reader_, control, [&] { take_record(); });
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
      return;
    }
    const Genotypes& genotypes = reader_.genotypes();
    choose_field();
    const bool has_dosages = numbers_ != nullptr && numbers_->per_sample > 0;
    if (genotypes.ploidy == 0 && !has_dosages) {
      ++found_.without_genotypes;
      return;
    }
    if (alts > 1) ++found_.split;
    if (field_ > 0) ++found_.dosages.of_next;
    for (const int alt : snps) {
      add_to_table(alt);
      check_ploidy(genotypes);
      if (fields_.empty()) {
        add_calls(genotypes, alt);
      } else {
        add_dosages_of(genotypes, alt);
      }
    }
  }

  void add_to_table(int alt) {
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
  }

  void check_ploidy(const Genotypes& genotypes) const {
    if (genotypes.ploidy <= kDiploid) return;
    for (std::size_t i = 0; i < found_.samples.size(); ++i) {
      if (alleles_of(genotypes, i)[kDiploid] != kNoAllele) refuse_ploidy(i);
    }
  }

  void add_calls(const Genotypes& genotypes, int alt) {
    std::vector<std::uint8_t>& all = found_.genotypes.calls;
    const std::size_t begin = all.size();
    all.resize(begin + (found_.samples.size() + 3) / 4);
    for (std::size_t i = 0; i < found_.samples.size(); ++i) {
      set_call(all.data() + begin, static_cast<std::int64_t>(i),
               call_of(alleles_of(genotypes, i), genotypes.ploidy, alt));
    }
  }

  // Chooses the first wanted field of which the record has values, or else the first one.
  void choose_field() {
    for (field_ = 0; field_ < fields_.size(); ++field_) {
      numbers_ = &reader_.sample_numbers(fields_[field_].c_str());
      if (any_number(numbers_->values)) return;
    }
    field_ = 0;
    if (!fields_.empty()) numbers_ = &reader_.sample_numbers(fields_[0].c_str());
  }

  void add_dosages_of(const Genotypes& genotypes, int alt) {
    const DosageField field = dosage_field_of(fields_[field_]);
    const DosedAllele allele = {reader_.stored_index(alt), reader_.stored_alleles()};
    const int n = numbers_->per_sample;
    for (std::size_t i = 0; i < found_.samples.size(); ++i) {
      DosedSample sample = {numbers_->values.data() + i * static_cast<std::size_t>(n), n,
                            kMissingCall, false};
      if (genotypes.ploidy > 0) {
        const int* const alleles = alleles_of(genotypes, i);
        sample.call = call_of(alleles, genotypes.ploidy, alt);
        sample.haploid = is_haploid(alleles, genotypes.ploidy);
      }
      const char* const problem = copies_.add(field, allele, sample);
      if (problem != nullptr) refuse_field(i, problem);
    }
    copies_.pack(found_.genotypes, found_.dosages);
  }

  [[noreturn]] void refuse_field(std::size_t sample, const std::string& problem) const {
    reader_.fail("sample " + excerpt(found_.samples[sample]) + " has " + problem + " in " +
                 fields_[field_] + ". Correct it, or read hard calls");
  }

  [[noreturn]] void refuse_ploidy(std::size_t sample) const {
    reader_.fail("sample " + excerpt(found_.samples[sample]) +
                 " has more than two alleles, but genotypes here have one or two. Leave the "
                 "sample or the record out");
  }

  VariantReader reader_;
  bool split_;
  std::vector<std::string> fields_;         // wanted fields that the header declares
  std::size_t field_ = 0;                   // index of the record's field
  const SampleNumbers* numbers_ = nullptr;  // in this field
  SampleCopies copies_;
  RecordCalls found_;
};

}  // namespace

RecordCalls read_record_calls(const std::string& path, const RecordRule& rule, int threads,
                              JobControl& control) {
  return CallReader(path, rule, in_forked_child() ? 1 : threads, control).read(control);
}

}  // namespace ancify
