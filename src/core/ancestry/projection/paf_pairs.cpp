// Walks along rows of PAF, and makes both sequences' letters of their columns.
#include "core/ancestry/projection/paf_pairs.h"

#include <algorithm>

#include "core/exec/errors.h"
#include "core/genome/bases.h"

namespace ancify {

namespace {

using StepKind = PafStep::Kind;

constexpr const char* kRowSays = "the row says";
constexpr char kUnknownLetter = 'N';
constexpr char kAsOutgroup = '=';  // a focal letter that is the outgroup's, still to be read

std::optional<OutgroupGenome> open_if_given(const std::string& file,
                                            const ProjectionOptions& options,
                                            const InputIdentities& inputs) {
  const auto genome = options.genomes.find(file);
  if (genome == options.genomes.end()) return {};
  return std::optional<OutgroupGenome>(std::in_place, genome->second, inputs);
}

// The case of letters in PAF means nothing.
char upper_case(char letter) { return static_cast<char>(letter & ~0x20); }

// Appends the letters of `n` columns; `other` if they are not given.
void append_letters(std::string& row, std::string_view letters, std::int64_t n, char other) {
  if (letters.empty()) {
    row.append(static_cast<std::size_t>(n), other);
  } else {
    for (const char letter : letters) row += upper_case(letter);
  }
}

}  // namespace

PafPairs::PafPairs(const std::string& file, const std::vector<Chromosome>& chromosomes,
                   const ProjectionOptions& options, const InputIdentities& inputs, BadBlocks& bad)
    : file_(file),
      bad_(bad),
      chromosomes_(chromosomes),
      insertions_(options.insertions),
      focal_row_(options.focal_row),
      wanted_(chromosomes, options.aliases),
      genome_(open_if_given(file, options, inputs)) {}

std::string PafPairs::problem_of(const PafRow& row, const Chromosome& chromosome) {
  const PafRange& target = row.target;
  if (target.size != chromosome.length) {
    return other_length(kRowSays, target.name, target.size, "the table of lengths",
                        chromosome.length) +
           ", with the focal genome as the target (minimap2 -c focal.fa outgroup.fa)";
  }
  return genome_ ? genome_->choose(kRowSays, row.query.name, row.query.size) : std::string();
}

void PafPairs::throw_without_bases(const PafRow& row) const {
  const std::string where = "'" + file_ + "', line " + std::to_string(row.line) + ": this row has ";
  if (!genome_ && !row.has_bases) {
    throw InputError(where +
                     "not all bases of the outgroup: set twobit to its genome in 2bit format, or "
                     "run minimap2 with --cs=long");
  }
  if (focal_row_ && !row.steps.differences) {
    throw InputError(where +
                     "no focal bases: give the focal genome (focal_fasta), or run minimap2 with "
                     "--cs");
  }
}

void PafPairs::project(const PafRow& row, const std::vector<PairSink*>& sinks) {
  const auto wanted = wanted_.find(row.target.name);
  if (!wanted) {
    for (PairSink* sink : sinks) sink->pass_over(row.target.name);
    return;
  }
  if (row.secondary) {
    for (PairSink* sink : sinks) sink->leave_out_secondary();
    return;
  }
  const std::string problem = problem_of(row, chromosomes_[*wanted]);
  if (!problem.empty()) return bad_.add(row.line, problem);
  throw_without_bases(row);
  if (genome_ && row.steps.differences && !agrees_with_genome(row)) {
    return bad_.add(row.line, "the bases of " + excerpt(row.query.name) +
                                  " in cs:Z: differ from the 2bit genome, which may be "
                                  "another build, or the strand is wrong");
  }
  project_steps(row, sinks);
}

void PafPairs::project_steps(const PafRow& row, const std::vector<PairSink*>& sinks) {
  AlignedPair pair;
  pair.chromosome = row.target.name;
  pair.line = row.line;
  pair.score = row.score;
  std::int64_t target = row.target.start;
  std::int64_t query = row.minus ? row.query.size - row.query.end : row.query.start;
  std::int64_t first_target = target;
  std::int64_t first_query = query;
  const auto pass_on = [&] {
    if (genome_) take_genome(row.minus, first_query);
    pair.target = focal_;
    pair.query = outgroup_;
    pair.start = first_target + 1;
    pair.end = target;
    for (PairSink* sink : sinks) sink->project(pair, 0);
    pair.continues = insertions_;
    pair.target_gaps = 0;
    focal_.clear();
    outgroup_.clear();
    first_target = target;
    first_query = query;
  };
  focal_.clear();
  outgroup_.clear();
  bool gapped = false;  // whether a gap follows the current pair's ungapped stretch
  for (PafSteps rest = row.steps; !rest.text.empty();) {
    const PafStep step = next_step(rest).value();
    const bool aligned = step.kind == StepKind::kAligned;
    if (aligned && gapped && target > first_target) pass_on();
    gapped = !aligned;
    // Inserted bases may precede a pair without columns.
    if (focal_.empty()) first_query = query;
    add(step);
    if (step.kind == StepKind::kInserted) {
      if (insertions_) pair.target_gaps += step.size;
    } else {
      target += step.size;
    }
    if (step.kind != StepKind::kDeleted) query += step.size;
  }
  if (target > first_target) pass_on();
}

bool PafPairs::agrees_with_genome(const PafRow& row) {
  outgroup_.clear();
  for (PafSteps rest = row.steps; !rest.text.empty();) {
    const PafStep step = next_step(rest).value();
    if (step.kind == StepKind::kDeleted) continue;
    append_letters(outgroup_, step.query, step.size, kUnknownLetter);
  }
  const std::int64_t start = row.minus ? row.query.size - row.query.end : row.query.start;
  genome_->read(row.minus, start, outgroup_.size(), bases_);
  return std::equal(outgroup_.begin(), outgroup_.end(), bases_.begin(), [](char given, char here) {
    const int code = base_code(given);
    return code == kMissing || base_code(here) == kMissing || code == base_code(here);
  });
}

void PafPairs::add(const PafStep& step) {
  switch (step.kind) {
    case StepKind::kAligned:
      append_letters(focal_, step.equal && genome_ ? std::string_view() : step.target, step.size,
                     step.equal ? kAsOutgroup : kUnknownLetter);
      append_letters(outgroup_, step.query, step.size, kUnknownLetter);
      break;
    case StepKind::kInserted:
      if (!insertions_) break;
      focal_.append(static_cast<std::size_t>(step.size), '-');
      append_letters(outgroup_, step.query, step.size, kUnknownLetter);
      break;
    case StepKind::kDeleted:
      append_letters(focal_, step.target, step.size, kUnknownLetter);
      outgroup_.append(static_cast<std::size_t>(step.size), '-');
      break;
  }
}

void PafPairs::take_genome(bool minus, std::int64_t start) {
  std::size_t n = 0;
  for (const char letter : outgroup_) n += letter == '-' ? 0 : 1;
  genome_->read(minus, start, n, bases_);
  const char* base = bases_.data();
  for (std::size_t i = 0; i < outgroup_.size(); ++i) {
    if (outgroup_[i] == '-') continue;
    outgroup_[i] = *base++;
    if (focal_[i] == kAsOutgroup) focal_[i] = outgroup_[i];
  }
}

void PafPairs::finish() const {
  if (genome_) genome_->check_unchanged();
}

}  // namespace ancify
