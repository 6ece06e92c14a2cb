// Counts the agreement of calls with a reference and with the alleles of variants.
#include "core/ancestry/comparison/evaluation.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "core/ancestry/comparison/reference.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/bases.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_file.h"
#include "core/genome/sequence_source.h"
#include "core/genome/sequence_window.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::int64_t kEvaluatedAtOnce = 1 << 17;

// Counts the calls of a chromosome from start to end, with a reference or alone.
class CallEvaluation {
 public:
  CallEvaluation(const ChromosomeToEvaluate& chromosome, SimdLevel simd, Evaluation& result,
                 JobControl& control)
      : chromosome_(chromosome),
        simd_(simd),
        result_(result),
        control_(control),
        reader_(chromosome.calls, chromosome.name, chromosome.length, control.inputs()),
        calls_(kEvaluatedAtOnce) {}

  void alone(const TaskContext& context) {
    while (position_ < chromosome_.length) {
      context.throw_if_stopped();
      const std::int64_t n = std::min(kEvaluatedAtOnce, chromosome_.length - position_);
      next(nullptr, static_cast<std::size_t>(n));
    }
    reader_.check_unchanged();
  }

  void with_reference(const TaskContext& context) {
    std::string waiting;
    const auto take = [&](std::string_view bases) {
      waiting += bases;
      if (waiting.size() < kEvaluatedAtOnce) return;
      next(waiting.data(), waiting.size());
      waiting.clear();
    };
    read_reference(chromosome_.reference, chromosome_.length, take, context);
    next(waiting.data(), waiting.size());
    reader_.check_unchanged();
  }

 private:
  // Without a reference, calls are compared with themselves. FormatError for letters that are not
  // calls.
  void next(const char* reference, std::size_t n) {
    if (calls_.size() < n) calls_.resize(n);
    reader_.read(position_, n, calls_.data());
    const CallCounts calls = count_calls(calls_.data(), n, simd_);
    const char* const other = reference != nullptr ? reference : calls_.data();
    const AgreementCounts agreement = count_agreement(calls_.data(), other, n, simd_);
    if (calls.high + calls.low != agreement.first) {
      throw FormatError(chromosome_.calls, 2,
                        "the sequence contains letters that are not calls (ACGTacgtnN)");
    }
    result_.calls += calls;
    if (reference != nullptr) result_.agreement += agreement;
    position_ += static_cast<std::int64_t>(n);
    control_.advance(static_cast<std::int64_t>(n));
  }

  const ChromosomeToEvaluate& chromosome_;
  SimdLevel simd_;
  Evaluation& result_;
  JobControl& control_;
  SequenceReader reader_;
  std::vector<char> calls_;
  std::int64_t position_ = 0;
};

// Compares one variant file with the calls of all its chromosomes.
class VariantComparison {
 public:
  VariantComparison(const std::vector<ChromosomeToEvaluate>& chromosomes,
                    const std::vector<std::size_t>& wanted, int threads,
                    std::vector<Evaluation>& results, const InputIdentities& inputs)
      : chromosomes_(chromosomes),
        wanted_(wanted),
        results_(results),
        reader_(chromosomes[wanted.front()].variants, threads, RecordParts::kAlleles, inputs),
        names_(names_of_wanted()) {}

  void run(JobControl& control, const TaskContext& context) {
    while (reader_.next()) {
      context.throw_if_stopped();
      if (reader_.chromosome() != name_) begin_chromosome(control);
      if (index_ == kNone) continue;
      if (reader_.position() > window_->length()) {
        reader_.fail("position " + std::to_string(reader_.position()) + " is beyond the end of '" +
                     chromosomes_[index_].name + "', which has " +
                     std::to_string(window_->length()) + " bases");
      }
      judge(results_[index_].variants);
    }
    check_all_found();
  }

 private:
  static constexpr std::size_t kNone = -1;

  std::vector<std::string> names_of_wanted() const {
    std::vector<std::string> names;
    for (const std::size_t index : wanted_) names.push_back(chromosomes_[index].name);
    return names;
  }

  void begin_chromosome(JobControl& control) {
    name_ = reader_.chromosome();
    const auto found = names_.find(name_);
    index_ = found ? wanted_[*found] : kNone;
    if (index_ == kNone) return;
    const auto& [name, length, calls, reference, variants] = chromosomes_[index_];
    const auto [earlier, is_new] = found_.emplace(index_, name_);
    if (!is_new) {
      reader_.fail("'" + name_ + "' and '" + earlier->second + "' both stand for '" + name +
                   "': rename one");
    }
    if (name != name_) {
      control.log("'" + reader_.path() + "': '" + name_ + "' is read as '" + name + "'");
    }
    calls_ = file_source(calls, name, length);
    window_ = std::make_unique<SequenceWindow>(*calls_, length);
  }

  static bool is_base(std::string_view allele) {
    return allele.size() == 1 && base_code(allele.front()) != kMissing;
  }

  void judge(VariantMatches& matches) {
    int alts = 0;
    for (int i = 1; i < reader_.alleles(); ++i) alts += is_base(reader_.allele(i)) ? 1 : 0;
    if (!is_base(reader_.allele(0)) || alts == 0 || reader_.position() < 1) {
      ++matches.other_records;
      return;
    }
    ++matches.variants;
    const char call = window_->at(reader_.position() - 1);
    const std::uint8_t base = base_code(call);
    if (base == kMissing) {
      ++(call == 'n' ? matches.unresolved : matches.missing);
      return;
    }
    ++matches.called;
    const auto is_call = [&](int i) {
      return is_base(reader_.allele(i)) && base_code(reader_.allele(i).front()) == base;
    };
    const bool ref = is_call(0);
    bool alt = false;
    for (int i = 1; i < reader_.alleles(); ++i) alt = alt || is_call(i);
    matches.ref += ref ? 1 : 0;
    matches.alt += alt ? 1 : 0;
    matches.either += ref || alt ? 1 : 0;
  }

  // FormatError unless the file knows each chromosome; a chromosome may have no records.
  void check_all_found() const {
    const std::vector<std::string> known = reader_.declared();
    for (const std::size_t index : wanted_) {
      const std::string& name = chromosomes_[index].name;
      const auto is_it = [&](const std::string& other) { return is_same_chromosome(name, other); };
      if (std::none_of(known.begin(), known.end(), is_it)) fail_without(name, known);
    }
  }

  [[noreturn]] void fail_without(const std::string& name,
                                 const std::vector<std::string>& known) const {
    std::string problem = "the file has no chromosome '" + name + "'";
    for (std::size_t i = 0; i < std::min<std::size_t>(known.size(), 3); ++i) {
      problem.append(i == 0 ? ". It has " : ", ").append(excerpt(known[i]));
    }
    throw FormatError(reader_.path(), 0, problem + (known.size() > 3 ? ", ..." : ""));
  }

  const std::vector<ChromosomeToEvaluate>& chromosomes_;
  const std::vector<std::size_t>& wanted_;
  std::vector<Evaluation>& results_;
  VariantReader reader_;
  ChromosomeNames names_;                     // of `wanted_`
  std::map<std::size_t, std::string> found_;  // the chromosomes' names in the file
  std::string name_;
  std::size_t index_ = kNone;
  std::unique_ptr<SequenceSource> calls_;
  std::unique_ptr<SequenceWindow> window_;
};

// The chromosomes of each variant file.
std::vector<std::vector<std::size_t>> by_file(
    const std::vector<ChromosomeToEvaluate>& chromosomes) {
  std::vector<std::vector<std::size_t>> groups;
  std::unordered_map<std::string, std::size_t> group_of;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    if (chromosomes[i].variants.empty()) continue;
    const auto [group, is_new] = group_of.emplace(chromosomes[i].variants, groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(i);
  }
  return groups;
}

}  // namespace

std::vector<Evaluation> evaluate(const std::vector<ChromosomeToEvaluate>& chromosomes, int threads,
                                 SimdLevel simd, JobControl& control) {
  std::vector<Evaluation> results(chromosomes.size());
  for (const auto& chromosome : chromosomes) control.expect(chromosome.length);
  const auto files = by_file(chromosomes);
  const auto n = static_cast<std::int64_t>(chromosomes.size());
  const auto n_files = static_cast<std::int64_t>(files.size());
  // Variant files take longest, so they come first. If they are few, each inflates on several
  // threads.
  const int inflating =
      in_forked_child() ? 0 : std::max(0, threads / std::max(1, static_cast<int>(n_files)) - 1);
  run_tasks(control, threads, n_files + n, [&](std::int64_t i, const TaskContext& context) {
    if (i < n_files) {
      VariantComparison(chromosomes, files[static_cast<std::size_t>(i)], inflating, results,
                        context.inputs())
          .run(control, context);
      return;
    }
    const auto index = static_cast<std::size_t>(i - n_files);
    CallEvaluation evaluation(chromosomes[index], simd, results[index], control);
    if (chromosomes[index].reference.empty()) {
      evaluation.alone(context);
    } else {
      evaluation.with_reference(context);
    }
  });
  return results;
}

}  // namespace ancify
