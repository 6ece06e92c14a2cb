// Annotates each record of a VCF file with the call at its position, and writes it.
#include "core/ancestry/variants/annotation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/ancestry/variants/record_bases.h"
#include "core/ancestry/variants/record_kind.h"
#include "core/ancestry/variants/record_mask.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/bases.h"

namespace ancify {

const std::array<const char*, kReasons> kReasonNames = {
    "INDEL",      "MULTIALLELIC",   "REF_MISMATCH", "MASKED", "NO_COVERAGE",
    "UNRESOLVED", "NEITHER_ALLELE", "LOW",          "OK"};

namespace {

constexpr const char* kOldRef = "AA_old_ref";
constexpr const char* kNotPolarised = "NOT_POLARISED";
constexpr const char* kScore = "MLR";
constexpr const char* kScoredTranscript = "MLRT";

HeaderAdditions additions_for(const AnnotationOptions& options) {
  std::string reasons;
  for (const char* name : kReasonNames) reasons.append(reasons.empty() ? "" : ", ").append(name);
  HeaderAdditions additions;
  if (!options.use_info) {
    additions.fields.push_back(
        {"AA", "1", "String", "Ancestral allele; upper case: high confidence, lower case: low"});
  }
  additions.fields.push_back(
      {"AA_reason", "1", "String",
       "Whether the ancestral allele can be used, the first that holds: " + reasons});
  const bool of_records = options.record_calls && !options.record_calls->posteriors.empty();
  if (!options.phred.empty() || options.history || of_records) {
    additions.fields.push_back({"AA_prob", "1", "Float", "Posterior probability of AA"});
  }
  if (options.history) {
    additions.fields.push_back({"AA_post", "4", "Float",
                                "Posterior probabilities of A, C, G and T being ancestral, from "
                                "the outgroups, the alleles and the samples' counts of them, if "
                                "known; AA_prob is of these where they are there"});
  }
  if (options.scores) {
    additions.fields.push_back({kScore, "1", "Float",
                                "Score of the derived residue beside the ancestral one, by a "
                                "protein language model"});
    additions.fields.push_back({kScoredTranscript, "1", "String", "The transcript of MLR"});
  }
  if (options.polarise) {
    additions.fields.push_back(
        {kOldRef, "1", "String",
         "REF before it was exchanged with ALT, which is ancestral; only in exchanged records"});
    additions.lines.push_back(
        std::string(
            "##ancify_polarised=\"REF is the ancestral allele where AA_reason is LOW or OK") +
        (options.multiallelic ? " and there is one ALT" : "") + "; in records with " + kOldRef +
        " it is not the reference's base\"");
  }
  if (options.unpolarised == Unpolarised::kFlag) {
    additions.filters.push_back(
        {kNotPolarised, "REF may not be the ancestral allele, as AA_reason says"});
  }
  return additions;
}

std::string in_case(std::string_view bases, bool lower) {
  std::string text(bases);
  for (char& c : text) c = lower ? lower_base(base_code(c)) : upper_base(base_code(c));
  return text;
}

class Annotator {
 public:
  Annotator(const AnnotationOptions& options, const TaskContext& context, JobControl& control)
      : options_(options),
        context_(context),
        ancestral_(options.ancestral, options.chromosomes, "ancestral", context),
        errors_(options.phred),
        reference_(options.reference, options.chromosomes, "reference", context),
        mask_(options.mask, context),
        // Compression takes several times as long as inflation.
        reader_(options.variants, options.threads > 2 ? 1 : 0, RecordParts::kGenotypes),
        progress_(options.variants, control),
        writer_(reader_, options.output, additions(),
                options.threads > 1 ? options.threads - 1 : 0) {
    writer_.keep(options.keep_fields);
    mask_.require_any(options.chromosomes, options.variants);
    if (options.history) posteriors_.emplace(*options.history, reader_, control);
    if (options.scores) scores_.emplace(*options.scores);
  }

  AnnotationReport run() {
    while (reader_.next()) {
      context_.throw_if_stopped();
      if (report_.chromosomes.empty() || reader_.chromosome() != report_.chromosomes.back().name) {
        begin_chromosome();
      }
      ++report_.chromosomes.back().records;
      annotate();
      if (polarised_ || options_.unpolarised != Unpolarised::kDrop) writer_.write();
      progress_.record(reader_);
    }
    refuse_without_info();
    writer_.commit(context_);
    report_.dropped = writer_.dropped();
    return std::move(report_);
  }

 private:
  HeaderAdditions additions() const {
    HeaderAdditions result = additions_for(options_);
    if (reader_.declared().empty()) result.chromosomes = options_.chromosomes;
    return result;
  }

  void refuse_without_info() const {
    std::int64_t records = 0;
    for (const auto& chromosome : report_.chromosomes) records += chromosome.records;
    const auto absent = static_cast<std::size_t>(AncestralLetter::kAbsent);
    if (options_.use_info && records > 0 && report_.letters[absent] == records) {
      throw InputError("no record of '" + options_.variants +
                       "' has AA in INFO: give calls or a FASTA file as `ancestral`");
    }
  }

  char call_of_record() {
    if (options_.record_calls) return known_call(*options_.record_calls);
    if (!options_.use_info) return ancestral_.at(reader_).value_or('N');
    const AncestralValue value = ancestral_value(reader_);
    ++report_.letters[static_cast<std::size_t>(value.letter)];
    return value.call;
  }

  char known_call(const CallsAtRecords& from) {
    pattern_ = from.patterns->at(report_.chromosomes.back().name, reader_.position());
    return pattern_ ? from.calls[*pattern_] : 'N';
  }

  // Of the call of this record; there must be one.
  std::optional<double> posterior_of_call() const {
    if (!options_.record_calls) return errors_.posterior(reader_);
    const auto& posteriors = options_.record_calls->posteriors;
    if (posteriors.empty()) return std::nullopt;
    const double posterior = posteriors[*pattern_];
    return std::isnan(posterior) ? std::nullopt : std::optional(posterior);
  }

  void begin_chromosome() {
    const std::string name(reader_.chromosome());
    report_.chromosomes.push_back({name, ancestral_.name_of(name)});
    ancestral_.begin_chromosome(reader_, context_);
    errors_.begin_chromosome(name, ancestral_.sequence());
    reference_.begin_chromosome(reader_, context_);
    mask_.begin_chromosome(name);
    if (posteriors_) posteriors_->begin_chromosome(name);
    if (scores_) scores_->begin_chromosome(name);
  }

  void annotate() {
    const char call = call_of_record();
    Exclusion exclusion = exclusion_of(reader_, reference_, mask_);
    if (!exclusion && options_.use_info) exclusion = exclusion_of_info(reader_);
    if (options_.indels && is_indel(reader_)) return annotate_indel(exclusion);
    const Reason reason = reason_for(reader_, call, exclusion, options_.multiallelic);
    count(reason);
    const bool has_base = base_code(call) != kMissing && reason != Reason::kIndel;
    if (exclusion) {
      remove_ancestor();
    } else {
      if (!options_.use_info) set_call(has_base, call);
      if (!options_.use_info || posteriors_) set_posteriors(has_base, call);
    }
    if (scores_) set_score(is_usable(reason) ? scores_->at(reader_, base_code(call)) : nullptr);
    polarise(reason, base_code(call) != base_code(reader_.allele(0).front()));
  }

  void annotate_indel(Exclusion exclusion) {
    const AlleleState state = state_of_indel();
    Reason reason = reason_for_indel(state, exclusion);
    if (reader_.alleles() > 2 && !options_.multiallelic) reason = Reason::kMultiallelic;
    count(reason);
    const bool is_low = state.call == AlleleCall::kLow;
    if (exclusion) {
      remove_ancestor();
    } else if (!options_.use_info) {
      if (is_low || state.call == AlleleCall::kHigh) {
        writer_.set_text("AA", in_case(reader_.allele(state.allele), is_low));
      } else {
        writer_.remove("AA");
      }
      set_posteriors(false, 'N');
    }
    if (scores_) set_score(nullptr);
    polarise(reason, state.allele > 0);
  }

  AlleleState state_of_indel() {
    if (options_.use_info) return allele_state_of_info(reader_);
    const std::string* const reference = reference_.sequence();
    return reference == nullptr ? AlleleState() : options_.indel_state(reader_, *reference);
  }

  void count(Reason reason) {
    ++report_.chromosomes.back().reasons[static_cast<std::size_t>(reason)];
  }

  // Writes the reason, and exchanges alleles if requested. `alt`: whether an ALT is ancestral.
  void polarise(Reason reason, bool alt) {
    writer_.set_text("AA_reason", kReasonNames[static_cast<std::size_t>(reason)]);
    if (!options_.polarise) return;
    polarised_ = is_usable(reason) && (!alt || reader_.alleles() == 2);
    if (!polarised_) {
      ++report_.not_polarised;
    } else if (alt) {
      writer_.swap_alleles(kOldRef);
      ++report_.swapped;
    }
    if (options_.unpolarised == Unpolarised::kFlag) writer_.set_filter(kNotPolarised, !polarised_);
  }

  // Programs that ignore the reason would use an allele at an excluded position.
  void remove_ancestor() {
    for (const char* id : {"AA", "AA_prob", "AA_post"}) writer_.remove(id);
  }

  void set_call(bool has_base, char call) {
    if (has_base) {
      writer_.set_text("AA", std::string(1, call));
    } else {
      writer_.remove("AA");
    }
  }

  void set_posteriors(bool has_base, char call) {
    const auto found = posteriors_ ? posteriors_->of_record() : std::nullopt;
    set_probability(has_base, call, found ? std::optional(found->posterior) : std::nullopt);
    if (found) {
      writer_.set_numbers("AA_post", {found->posterior.begin(), found->posterior.end()});
      ++report_.posteriors;
      if (found->counted) ++report_.counted;
    } else {
      writer_.remove("AA_post");  // the input's belongs to another call
    }
  }

  void set_score(const RecordScore* found) {
    if (found == nullptr) {
      writer_.remove(kScore);
      writer_.remove(kScoredTranscript);
      return;
    }
    writer_.set_numbers(kScore, {found->score});
    writer_.set_text(kScoredTranscript, found->transcript);
    ++report_.scored;
  }

  static bool is_usable(Reason reason) { return reason == Reason::kLow || reason == Reason::kOk; }

  void set_probability(bool has_base, char call, const std::optional<Posterior>& posterior) {
    std::optional<double> probability;
    if (has_base) {
      probability = posterior ? std::optional((*posterior)[base_code(call)]) : posterior_of_call();
    }
    if (probability) {
      writer_.set_numbers("AA_prob", {static_cast<float>(*probability)});
    } else {
      writer_.remove("AA_prob");
    }
  }

  const AnnotationOptions& options_;
  const TaskContext& context_;
  RecordBases ancestral_;
  RecordErrors errors_;
  RecordBases reference_;
  RecordMask mask_;
  VariantReader reader_;
  ReadingProgress progress_;
  VariantWriter writer_;
  std::optional<RecordPosteriors> posteriors_;
  std::optional<RecordScores> scores_;
  std::optional<std::size_t> pattern_;  // of the last record, with record_calls
  bool polarised_ = true;               // the last record, or all without `polarise`
  AnnotationReport report_;
};

}  // namespace

Exclusion exclusion_of(const VariantReader& reader, const RecordBases& reference,
                       RecordMask& mask) {
  const std::string_view ref = reader.allele(0);
  for (std::size_t i = 0; i < ref.size(); ++i) {
    const auto base = base_code(reference.at(reader, static_cast<int>(i)).value_or('N'));
    const auto here = base_code(ref[i]);
    if (base != kMissing && here != kMissing && base != here) return Reason::kRefMismatch;
  }
  const bool is_masked =
      mask.covers_any(reader.position() - 1, static_cast<std::int64_t>(ref.size()));
  return is_masked ? Exclusion(Reason::kMasked) : std::nullopt;
}

Exclusion exclusion_of_info(VariantReader& reader) {
  const auto text = reader.info_text("AA_reason");
  for (const Reason reason : {Reason::kRefMismatch, Reason::kMasked}) {
    if (text == kReasonNames[static_cast<std::size_t>(reason)]) return reason;
  }
  return {};
}

Reason reason_for(const VariantReader& reader, char ancestral, Exclusion exclusion,
                  bool multiallelic) {
  const int alleles = reader.alleles();
  for (int i = 0; i < alleles; ++i) {
    const std::string_view allele = reader.allele(i);
    if (allele.size() != 1 || base_code(allele.front()) == kMissing) return Reason::kIndel;
  }
  if (alleles > 2 && !multiallelic) return Reason::kMultiallelic;
  const std::uint8_t ref = base_code(reader.allele(0).front());
  if (exclusion) return *exclusion;
  if (ancestral == 'n') return Reason::kUnresolved;
  const std::uint8_t base = base_code(ancestral);
  if (base == kMissing) return Reason::kNoCoverage;
  bool is_alt = false;
  for (int i = 1; i < alleles; ++i) {
    is_alt = is_alt || base_code(reader.allele(i).front()) == base;
  }
  if (base != ref && !is_alt) return Reason::kNeitherAllele;
  return ancestral >= 'a' ? Reason::kLow : Reason::kOk;
}

Reason reason_for_indel(const AlleleState& state, Exclusion exclusion) {
  if (exclusion) return *exclusion;
  switch (state.call) {
    case AlleleCall::kUnresolved:
      return Reason::kUnresolved;
    case AlleleCall::kOther:
      return Reason::kNeitherAllele;
    case AlleleCall::kLow:
      return Reason::kLow;
    case AlleleCall::kHigh:
      return Reason::kOk;
    default:
      return Reason::kNoCoverage;
  }
}

std::vector<std::string> variant_chromosomes(const std::string& path, JobControl& control) {
  std::vector<std::string> names;
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext& context) {
    VariantReader reader(path);
    names = reader.declared();
    if (!names.empty()) return;
    while (reader.next()) context.throw_if_stopped();
    names = reader.declared();
  });
  return names;
}

AnnotationReport annotate_variants(const AnnotationOptions& options, JobControl& control) {
  AnnotationReport report;
  const int threads = in_forked_child() ? 1 : options.threads;
  run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
    AnnotationOptions resolved = options;
    resolved.threads = threads;
    report = Annotator(resolved, context, control).run();
  });
  return report;
}

}  // namespace ancify
