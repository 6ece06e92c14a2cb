// Decides which records are sites, and counts the reasons for excluding others.
#include "core/spectra/site_reader.h"

#include <algorithm>

#include "core/ancestry/variants/ancestral_info.h"
#include "core/ancestry/variants/record_kind.h"
#include "core/exec/errors.h"
#include "core/genome/bases.h"

namespace ancify {

namespace {

std::int64_t length_of(const RecordBases& bases) {
  return bases.sequence() == nullptr ? 0 : static_cast<std::int64_t>(bases.sequence()->size());
}

}  // namespace

SiteReader::SiteReader(const SiteReaderOptions& options, JobControl& control,
                       const TaskContext& context)
    : options_(options),
      context_(context),
      ancestral_(options.ancestral, options.chromosomes, "ancestral", context),
      errors_(options.phred),
      reference_(options.reference, options.chromosomes, "reference", context),
      mask_(options.mask, context),
      // One thread suffices, as inflating is several times as fast as parsing.
      reader_(options.variants, options.threads > 1 ? 1 : 0, RecordParts::kGenotypes),
      progress_(options.variants, control),
      counts_(options.n_populations) {
  mask_.require_any(options.chromosomes, options.variants);
  if (options.named_fields) {
    for (const CountFields& fields : options.count_fields) reader_.require_declared(fields);
  }
}

bool SiteReader::next() {
  while (reader_.next()) {
    context_.throw_if_stopped();
    if (totals_.chromosomes.empty() || reader_.chromosome() != totals_.chromosomes.back().name) {
      begin_chromosome();
    }
    ++totals_.chromosomes.back().records;
    const bool is_site = take_record();
    progress_.record(reader_);
    if (is_site) return true;
  }
  if (options_.needs_counts && has_sites_ && !has_counts_) {
    throw FormatError(options_.variants, 0,
                      options_.count_fields.empty()
                          ? "no record has genotypes (GT)"
                          : "no site has " + options_.count_fields.front().copies + " and " +
                                options_.count_fields.front().called +
                                " in INFO, as integers that the header declares");
  }
  return false;
}

void SiteReader::begin_chromosome() {
  const std::string name(reader_.chromosome());
  totals_.chromosomes.push_back({name, ancestral_.name_of(name)});
  ancestral_.begin_chromosome(reader_, context_);
  errors_.begin_chromosome(name, ancestral_.sequence());
  reference_.begin_chromosome(reader_, context_);
  mask_.begin_chromosome(name);
  lengths_.push_back({length_of(ancestral_), length_of(reference_)});
}

bool SiteReader::take_record() {
  const char call = call_of_record();
  const bool wants_indels = options_.kind != SiteKind::kSnps;
  return wants_indels && is_indel(reader_) ? take_indel() : take_base(call);
}

bool SiteReader::take_base(char call) {
  const Reason reason = reason_for(reader_, call, exclusion());
  if (reason != Reason::kIndel && is_monomorphic()) {
    ++totals_.monomorphic;
    return false;
  }
  if (options_.kind != SiteKind::kSnps && reason != Reason::kIndel) {
    ++totals_.other_kind;
    return false;
  }
  if (!count_reason(reason)) return false;
  const int ancestral = base_code(call);
  if (!count(base_code(reader_.allele(0).front()) == ancestral ? 1 : 0)) return false;
  take_site(ancestral);
  return true;
}

bool SiteReader::take_indel() {
  if (reader_.alleles() > 2) return count_reason(Reason::kMultiallelic);
  const AlleleState state = allele_state_of_info(reader_);
  const auto length = [&](int i) { return static_cast<std::int64_t>(reader_.allele(i).size()); };
  const Reason reason = reason_for_indel(state, exclusion());
  const bool is_called = reason == Reason::kOk || reason == Reason::kLow;
  const std::int64_t longer = length(1 - state.allele) - length(state.allele);
  if (is_called ? !is_wanted(longer) : longer == 0) {
    ++totals_.other_kind;
    return false;
  }
  if (!count_reason(reason) || !count(1 - state.allele)) return false;
  posterior_ = 1;
  return true;
}

// The exclusion by this job's sequences and mask, or by an earlier annotation of the file.
Exclusion SiteReader::exclusion() {
  const Exclusion here = exclusion_of(reader_, reference_, mask_);
  return here ? here : exclusion_of_info(reader_);
}

bool SiteReader::is_wanted(std::int64_t longer) const {
  switch (options_.kind) {
    case SiteKind::kInsertions:
      return longer > 0;
    case SiteKind::kDeletions:
      return longer < 0;
    default:
      return longer != 0;
  }
}

// Counts a record, and returns whether it is a site.
bool SiteReader::count_reason(Reason reason) {
  ++totals_.chromosomes.back().reasons[static_cast<std::size_t>(reason)];
  return reason == Reason::kOk || (reason == Reason::kLow && options_.low_confidence);
}

char SiteReader::call_of_record() {
  if (options_.ref_is_ancestral) {
    const int base = base_code(reader_.allele(0).front());
    return base < 0 || base > 3 ? 'N' : "ACGT"[base];
  }
  if (!options_.use_info) return ancestral_.at(reader_).value_or('N');
  const AncestralValue value = ancestral_value(reader_);
  ++totals_.letters[static_cast<std::size_t>(value.letter)];
  return value.call;
}

bool SiteReader::is_monomorphic() const {
  const auto base = [&](int i) { return base_code(reader_.allele(i).front()); };
  return reader_.alleles() == 1 || (reader_.alleles() == 2 && base(0) == base(1));
}

void SiteReader::take_site(int ancestral) {
  ancestral_base_ = ancestral;
  derived_base_ = base_code(reader_.allele(derived_allele_).front());
  std::optional<AllelePosterior> posterior;
  if (options_.use_info && !options_.ref_is_ancestral) {
    posterior = ancestral_posterior(reader_, ancestral_base_, derived_base_);
  } else if (!options_.ref_is_ancestral) {
    if (const auto of_run = errors_.posterior(reader_)) posterior = {*of_run, false};
  }
  if (posterior) totals_.has_posteriors = true;
  posterior_ = posterior ? posterior->probability : 1;
  posterior_of_sample_ = posterior && posterior->of_sample;
}

// Counts the haplotypes of a site, and returns whether it can be used.
bool SiteReader::count(int derived_allele) {
  has_sites_ = true;
  derived_allele_ = derived_allele;
  std::fill(counts_.begin(), counts_.end(), AlleleCount{0, 0});
  if (!options_.count_fields.empty()) return count_of_info() || !options_.needs_counts;
  count_genotypes();
  return true;
}

void SiteReader::count_genotypes() {
  const Genotypes& genotypes = reader_.genotypes();
  if (genotypes.ploidy > 0) has_counts_ = true;
  const int derived = derived_allele_;
  const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
  const std::size_t samples = ploidy > 0 ? options_.populations.size() : 0;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    if (options_.populations[sample] == kNoPopulation) continue;
    const int* const alleles = &genotypes.alleles[sample * ploidy];
    AlleleCount more = {0, 0};
    // Sums comparisons, because branches on genotypes would be mispredicted.
    for (std::size_t k = 0; k < ploidy; ++k) {
      more.called += static_cast<int>(alleles[k] >= 0);
      more.derived += static_cast<int>(alleles[k] == derived);
    }
    AlleleCount& counts = counts_[static_cast<std::size_t>(options_.populations[sample])];
    counts.called += more.called;
    counts.derived += more.derived;
  }
}

// Without counts, no haplotype is called. Returns false if they must not be used.
bool SiteReader::count_of_info() {
  bool is_absent = false;
  bool is_impossible = false;
  for (std::size_t k = 0; k < counts_.size(); ++k) {
    const CountFields& fields = options_.count_fields[k];
    const auto stated =
        options_.named_fields ? reader_.stated_counts(fields) : reader_.info_counts(fields);
    if (stated) has_counts_ = true;
    if (!stated) {
      is_absent = true;
    } else if (stated->copies > stated->called) {
      is_impossible = true;
    } else {
      const auto [copies, called] = *stated;
      const std::int64_t derived = derived_allele_ == 1 ? copies : called - copies;
      counts_[k] = {static_cast<int>(called), static_cast<int>(derived)};
    }
  }
  if (!options_.named_fields || !(is_absent || is_impossible)) return true;
  ++(is_absent ? totals_.without_counts : totals_.impossible_counts);
  return false;
}

}  // namespace ancify
