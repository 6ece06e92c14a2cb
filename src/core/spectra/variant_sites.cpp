// Makes sites of a VCF's records, and counts the reasons why other records are not used.
#include "core/spectra/variant_sites.h"

#include <algorithm>
#include <optional>

#include "core/ancestry/variants/ancestral_info.h"
#include "core/ancestry/variants/record_bases.h"
#include "core/ancestry/variants/record_kind.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/bases.h"
#include "core/io/text.h"

namespace ancify {

const std::array<const char*, kMutations> kMutationNames = {"A>C", "A>G", "A>T",
                                                            "C>A", "C>G", "C>T"};

namespace {

// The index in kMutationNames. A mutation from G or T counts as that of the complement.
std::size_t mutation_number(int ancestral, int derived) {
  constexpr int last = kBases - 1;
  if (ancestral > 1) {
    ancestral = last - ancestral;
    derived = last - derived;
  }
  const int number = ancestral * last + (derived < ancestral ? derived : derived - 1);
  return static_cast<std::size_t>(number);
}

class VariantTabulator {
 public:
  VariantTabulator(const VariantSitesOptions& options, JobControl& control,
                   const TaskContext& context)
      : options_(options),
        context_(context),
        ancestral_(options.ancestral, options.chromosomes, "ancestral", context),
        errors_(options.phred),
        reference_(options.reference, options.chromosomes, "reference", context),
        // One thread is enough: inflating is several times as fast as parsing.
        reader_(options.variants, options.threads > 1 ? 1 : 0, RecordParts::kGenotypes),
        progress_(options.variants, control),
        counts_(options.n_populations),
        sites_(options.n_populations) {}

  VariantSites run() {
    while (reader_.next()) {
      context_.throw_if_stopped();
      if (sites_.chromosomes.empty() || reader_.chromosome() != sites_.chromosomes.back().name) {
        begin_chromosome();
      }
      ++sites_.chromosomes.back().records;
      take_record();
      progress_.record(reader_);
    }
    if (sites_.table.sites() > 0 && !has_genotypes_) {
      throw FormatError(options_.variants, 0, "no record has genotypes (GT)");
    }
    return std::move(sites_);
  }

 private:
  void begin_chromosome() {
    const std::string name(reader_.chromosome());
    sites_.chromosomes.push_back({name, ancestral_.name_of(name)});
    ancestral_.begin_chromosome(reader_, context_);
    errors_.begin_chromosome(name, ancestral_.sequence());
    reference_.begin_chromosome(reader_, context_);
    window_ = -1;
  }

  void take_record() {
    const char call = call_of_record();
    if (options_.kind != SiteKind::kSnps && is_indel(reader_)) return take_indel();
    const Reason reason = reason_for(reader_, call, reference_.at(reader_), false);
    if (reason != Reason::kIndel && is_monomorphic()) {
      ++sites_.monomorphic;
      return;
    }
    if (options_.kind != SiteKind::kSnps && reason != Reason::kIndel) {
      ++sites_.other_kind;
      return;
    }
    if (count_reason(reason)) take_site(base_code(call));
  }

  void take_indel() {
    if (reader_.alleles() > 2) {
      count_reason(Reason::kMultiallelic);
      return;
    }
    const AlleleState state = allele_state_of_info(reader_);
    const Reason reason = reason_for_indel(reader_, state, reference_, false);
    const auto ancestral = static_cast<std::int64_t>(reader_.allele(state.allele).size());
    const auto derived = static_cast<std::int64_t>(reader_.allele(1 - state.allele).size());
    const bool is_called = reason == Reason::kOk || reason == Reason::kLow;
    if (is_called ? !is_wanted(derived - ancestral) : derived == ancestral) {
      ++sites_.other_kind;
      return;
    }
    if (!count_reason(reason)) return;
    count(1 - state.allele);
    sites_.table.add(counts_.data(), 1, window());
  }

  bool is_wanted(std::int64_t longer) const {
    switch (options_.kind) {
      case SiteKind::kInsertions:
        return longer > 0;
      case SiteKind::kDeletions:
        return longer < 0;
      default:
        return longer != 0;
    }
  }

  // Counts a record, and tells whether it is a site.
  bool count_reason(Reason reason) {
    ++sites_.chromosomes.back().reasons[static_cast<std::size_t>(reason)];
    return reason == Reason::kOk || (reason == Reason::kLow && options_.low_confidence);
  }

  char call_of_record() {
    if (!options_.use_info) return ancestral_.at(reader_).value_or('N');
    const AncestralValue value = ancestral_value(reader_);
    ++sites_.letters[static_cast<std::size_t>(value.letter)];
    return value.call;
  }

  bool is_monomorphic() const {
    const auto base = [&](int i) { return base_code(reader_.allele(i).front()); };
    return reader_.alleles() == 1 || (reader_.alleles() == 2 && base(0) == base(1));
  }

  void take_site(int ancestral) {
    const int derived_allele = base_code(reader_.allele(0).front()) == ancestral ? 1 : 0;
    const int derived = base_code(reader_.allele(derived_allele).front());
    count(derived_allele);
    const std::optional<double> posterior = options_.use_info
                                                ? ancestral_posterior(reader_, ancestral, derived)
                                                : errors_.posterior(reader_);
    if (posterior) sites_.has_posteriors = true;
    sites_.table.add(counts_.data(), posterior.value_or(1), window());
    sites_.errors.add(counts_.data(), posterior.value_or(1), kind(ancestral, derived));
  }

  void count(int derived_allele) {
    std::fill(counts_.begin(), counts_.end(), AlleleCount{0, 0});
    const Genotypes& genotypes = reader_.genotypes();
    if (genotypes.ploidy > 0) has_genotypes_ = true;
    const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
    const std::size_t samples = ploidy > 0 ? options_.populations.size() : 0;
    for (std::size_t sample = 0; sample < samples; ++sample) {
      if (options_.populations[sample] == kNoPopulation) continue;
      const int* const alleles = &genotypes.alleles[sample * ploidy];
      AlleleCount more = {0, 0};
      // Sums of comparisons, because branches on genotypes would be mispredicted.
      for (std::size_t k = 0; k < ploidy; ++k) {
        more.called += static_cast<int>(alleles[k] >= 0);
        more.derived += static_cast<int>(alleles[k] == derived_allele);
      }
      AlleleCount& counts = counts_[static_cast<std::size_t>(options_.populations[sample])];
      counts.called += more.called;
      counts.derived += more.derived;
    }
  }

  // Only windows with sites have numbers, in the order of their first sites.
  int window() {
    if (options_.window == 0) return 0;
    const std::int64_t window = (reader_.position() - 1) / options_.window;
    if (window != window_) {
      window_ = window;
      ++sites_.windows;
    }
    return sites_.windows - 1;
  }

  std::size_t kind(int ancestral, int derived) const {
    return mutation_number(ancestral, derived) * kCpgStates +
           static_cast<std::size_t>(cpg(ancestral, derived));
  }

  // Whether one of the alleles is the C or the G of a CpG.
  CpgState cpg(int ancestral, int derived) const {
    constexpr int c = 1;
    constexpr int g = 2;
    const auto beside = [&](int base, int other, int offset) {
      if (ancestral != base && derived != base) return CpgState::kNo;
      const int neighbour = base_code(reference_.at(reader_, offset).value_or('N'));
      if (neighbour == kMissing) return CpgState::kUnknown;
      return neighbour == other ? CpgState::kYes : CpgState::kNo;
    };
    const CpgState before_g = beside(c, g, 1);
    const CpgState after_c = beside(g, c, -1);
    if (before_g == CpgState::kYes || after_c == CpgState::kYes) return CpgState::kYes;
    return before_g == CpgState::kUnknown ? before_g : after_c;
  }

  const VariantSitesOptions& options_;
  const TaskContext& context_;
  RecordBases ancestral_;
  RecordErrors errors_;
  RecordBases reference_;
  VariantReader reader_;
  ReadingProgress progress_;
  std::vector<AlleleCount> counts_;
  VariantSites sites_;
  bool has_genotypes_ = false;
  std::int64_t window_ = -1;
};

}  // namespace

std::vector<std::string> variant_samples(const std::string& path) {
  std::vector<std::string> samples = VariantReader(path).samples();
  if (samples.empty()) {
    throw FormatError(path, 0, "the file has no samples, and so no genotypes");
  }
  for (const auto& sample : samples) {
    if (!is_utf8(sample)) {
      throw FormatError(path, 0,
                        "the name of the sample " + excerpt(sample) + " is not UTF-8 text");
    }
  }
  return samples;
}

VariantSites tabulate_variants(const VariantSitesOptions& options, JobControl& control) {
  VariantSitesOptions resolved = options;
  if (in_forked_child()) resolved.threads = 1;
  std::optional<VariantSites> sites;
  run_tasks(control, resolved.threads, 1, [&](std::int64_t, const TaskContext& context) {
    sites = VariantTabulator(resolved, control, context).run();
  });
  return std::move(*sites);
}

}  // namespace ancify
