// Packs the genotypes of a variant file, record by record.
#include "core/formats/genotype/record_calls.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/packed_dosages.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/formats/variant/variant_file.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr int kDiploid = 2;
// The numbers of a VCF are floats, of which GP has several. Copies are exact to this.
constexpr double kErrorOfFloats = 5e-7;

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
      if (found_.dosage_field.empty() && reader_.declares_sample_field(field.c_str())) {
        found_.dosage_field = field;
      }
    }
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
      return;
    }
    const Genotypes& genotypes = reader_.genotypes();
    if (!found_.dosage_field.empty()) {
      dosages_ = &reader_.sample_numbers(found_.dosage_field.c_str());
    }
    const bool has_dosages = dosages_ != nullptr && dosages_->per_sample > 0;
    if (genotypes.ploidy == 0 && !has_dosages) {
      ++found_.without_genotypes;
      return;
    }
    if (alts > 1) ++found_.split;
    for (const int alt : snps) {
      add_to_table(alt);
      check_ploidy(genotypes);
      if (found_.dosage_field.empty()) {
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

  void add_dosages_of(const Genotypes& genotypes, int alt) {
    const bool is_ds = found_.dosage_field == "DS";
    copies_.assign(found_.samples.size(), std::nan(""));
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const int* const alleles = alleles_of(genotypes, i);
      const bool haploid = genotypes.ploidy > 0 && is_haploid(alleles, genotypes.ploidy);
      if (dosages_->per_sample > 0) {
        copies_[i] = is_ds ? copies_of_ds(i, alt, haploid) : copies_of_gp(i, alt, haploid);
      }
      if (!std::isnan(copies_[i]) || genotypes.ploidy == 0) continue;
      const unsigned call = call_of(alleles, genotypes.ploidy, alt);
      if (call == kMissingCall) continue;
      copies_[i] = call;
      ++found_.called;
    }
    found_.rounded += add_dosages(copies_, kErrorOfFloats, found_.genotypes);
  }

  double copies_of_ds(std::size_t sample, int alt, bool haploid) const {
    const int at = reader_.stored_index(alt) - 1;
    if (dosages_->per_sample <= at) refuse_field(sample, "not one number for each ALT allele");
    const float copies = numbers_of(sample)[at];
    const float most = haploid ? 1 : 2;
    if (copies < 0 || copies > most) refuse_field(sample, "a dosage beyond its copies");
    return haploid ? 2 * copies : copies;
  }

  // The expected copies by probabilities of genotypes, which are in the order of VCF: a genotype of
  // alleles j <= k is at k * (k + 1) / 2 + j.
  double copies_of_gp(std::size_t sample, int alt, bool haploid) const {
    const float* probability = numbers_of(sample);
    const int alleles = reader_.stored_alleles();
    const int genotypes = haploid ? alleles : alleles * (alleles + 1) / 2;
    if (std::isnan(probability[0])) return std::nan("");
    if (dosages_->per_sample < genotypes) {
      refuse_field(sample, "not one number for each genotype");
    }
    const int counted = reader_.stored_index(alt);
    double sum = 0;
    double copies = 0;
    for (int k = 0; k < alleles; ++k) {
      for (int j = haploid ? k : 0; j <= k; ++j, ++probability) {
        if (!(*probability >= 0 && *probability <= 1)) {
          refuse_field(sample, "a number that is no probability");
        }
        sum += *probability;
        copies += *probability * ((j == counted ? 1 : 0) + (k == counted ? 1 : 0));
      }
    }
    return sum > 0 ? copies / sum : std::nan("");
  }

  const float* numbers_of(std::size_t sample) const {
    return dosages_->values.data() + sample * static_cast<std::size_t>(dosages_->per_sample);
  }

  [[noreturn]] void refuse_field(std::size_t sample, const std::string& problem) const {
    reader_.fail("sample " + excerpt(found_.samples[sample]) + " has " + problem + " in " +
                 found_.dosage_field + ". Correct it, or read hard calls");
  }

  [[noreturn]] void refuse_ploidy(std::size_t sample) const {
    reader_.fail("sample " + excerpt(found_.samples[sample]) +
                 " has more than two alleles, but genotypes here have one or two. Leave the "
                 "sample or the record out");
  }

  VariantReader reader_;
  bool split_;
  const SampleNumbers* dosages_ = nullptr;  // of the record
  std::vector<double> copies_;              // of the samples
  RecordCalls found_;
};

}  // namespace

RecordCalls read_record_calls(const std::string& path, const RecordRule& rule, int threads,
                              JobControl& control) {
  return CallReader(path, rule, in_forked_child() ? 1 : threads, control).read(control);
}

}  // namespace ancify
