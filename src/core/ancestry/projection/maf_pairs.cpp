// Finds the species' rows in MAF blocks, checks them, and turns them to the focal plus strand.
#include "core/ancestry/projection/maf_pairs.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/exec/errors.h"
#include "core/formats/alignment/row_scan.h"
#include "core/genome/bases.h"
#include "core/genome/complement.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// The inconsistency in a row; empty if there is none.
std::string problem_of(std::string_view source, const MafRow& row, const RowScan& scan) {
  const auto bases = static_cast<std::int64_t>(row.columns.size()) - scan.gaps;
  if (!scan.only_letters_and_gaps) {
    return "the row of " + excerpt(source) + " contains characters other than letters and -";
  }
  if (bases != row.size) {
    return "the row's size is " + std::to_string(row.size) + ", but it has " +
           std::to_string(bases) + " bases";
  }
  if (row.start + row.size > row.source_size) {
    return "the row's coordinates (start " + std::to_string(row.start) + ", size " +
           std::to_string(row.size) + ") are not inside its sequence " + excerpt(source) +
           ", which is " + std::to_string(row.source_size) + " bases long";
  }
  return {};
}

std::vector<std::string> all_focal(std::vector<std::string> names,
                                   const std::vector<Chromosome>& chromosomes) {
  for (const auto& chromosome : chromosomes) names.push_back(chromosome.name);
  return names;
}

std::string not_a_row(const MafLine& line) {
  return "the row of " + excerpt(line.source) +
         " does not have the fields source, start, size, strand, source length and columns";
}

}  // namespace

MafPairs::MafPairs(const std::string& file, const std::vector<std::string>& names,
                   const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
                   BadBlocks& bad)
    : file_(file),
      names_(names),
      options_(options),
      bad_(bad),
      n_(names.size()),
      focal_prefix_(options.focal_name + "."),
      chromosomes_(chromosomes),
      wanted_(chromosomes, options.aliases),
      focal_names_(all_focal(options.focal_chromosomes, chromosomes)),
      seen_(names.size()),
      ends_(names.size()),
      outgroups_(names.size()) {
  for (std::size_t i = 0; i < n_; ++i) numbers_.emplace(names_[i], i);
  numbers_.emplace(options.focal_name, n_);
}

void MafPairs::remember_sources(const MafBlock& block) {
  constexpr int most_blocks = 20;
  constexpr std::size_t most_sources = 20;
  if (++blocks_ > most_blocks) return;
  for (const auto& row : block.rows) {
    const bool is_new = std::find(sources_.begin(), sources_.end(), row.source) == sources_.end();
    if (is_new && sources_.size() < most_sources) sources_.emplace_back(row.source);
  }
}

bool MafPairs::is_known_focal(std::string_view source) const {
  return source.substr(0, focal_prefix_.size()) == focal_prefix_ &&
         focal_names_.find(source.substr(focal_prefix_.size())).has_value();
}

std::size_t MafPairs::species_of(std::string_view source) const {
  for (std::string_view name = source; !name.empty();) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    const auto dot = name.rfind('.');
    name = name.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return n_ + 1;
}

std::size_t MafPairs::kind_of(std::string_view source) {
  constexpr std::size_t most_missing = 8;  // rows that the block lacks
  constexpr std::size_t most_known = 4096;
  const std::size_t end = std::min(next_known_ + most_missing, known_.size());
  while (next_known_ < end && known_[next_known_].source != source) ++next_known_;
  if (next_known_ == end) {
    const auto place = places_.find(source);
    if (place == places_.end() && known_.size() == most_known) return new_kind_of(source);
    next_known_ = place == places_.end() ? known_.size() : place->second;
    if (place == places_.end()) {
      known_.push_back({std::string(source), new_kind_of(source)});
      places_.emplace(known_.back().source, next_known_);
    }
  }
  return known_[next_known_++].kind;
}

std::size_t MafPairs::new_kind_of(std::string_view source) const {
  return is_known_focal(source) ? n_ + 2 : species_of(source);
}

void MafPairs::find_rows(const MafBlock& block) {
  focal_.clear();
  for (auto& rows : outgroups_) rows.clear();
  next_known_ = 0;
  const MafLine* other_focal = nullptr;
  for (const auto& row : block.rows) {
    if (!row.wanted) continue;
    const std::size_t species = kind_of(row.source);
    if (species == n_ + 2) focal_.push_back(&row);
    if (species < n_) outgroups_[species].push_back(&row);
    if (species == n_ && other_focal == nullptr) other_focal = &row;
  }
  if (focal_.empty() && other_focal != nullptr) focal_.push_back(other_focal);
  for (std::size_t i = 0; i < n_; ++i) seen_[i] = seen_[i] || !outgroups_[i].empty();
}

void MafPairs::project(const MafBlock& block, const std::vector<PairSink*>& sinks) {
  remember_sources(block);
  if (options_.focal_name.empty() || std::find(names_.begin(), names_.end(), "") != names_.end()) {
    throw InputError("'" + file_ +
                     "' has rows of several species: set maf_name and focal_maf_name to the "
                     "prefixes of the outgroup's and "
                     "the focal species' sources. Its first block has " +
                     quoted_list(sources_));
  }
  find_rows(block);
  of_columns_ = block.of_columns;
  if (focal_.empty()) {
    std::vector<std::string> sources;
    for (const auto& row : block.rows) sources.emplace_back(row.source);
    bad_.add(block.line, "this block has no row of the focal species, whose sources begin with " +
                             excerpt(focal_prefix_) + " (focal_maf_name); it has " +
                             (sources.empty() ? "no row at all" : quoted_list(sources)));
    return;
  }
  if (focal_.front()->source.size() < focal_prefix_.size()) {
    bad_.add(focal_.front()->line,
             "the focal row's source is " + excerpt(focal_.front()->source) +
                 ", without a chromosome: it must be focal_maf_name, a dot and the chromosome");
    return;
  }
  bool any_wanted = false;
  for (const MafLine* const focal : focal_) {
    const auto wanted = wanted_.find(chromosome_of(*focal));
    if (!wanted) continue;
    any_wanted = true;
    project_row(*focal, chromosomes_[*wanted], block.score, sinks);
  }
  if (any_wanted) return;
  for (std::size_t i = 0; i < n_; ++i) {
    if (!outgroups_[i].empty()) sinks[i]->pass_over(chromosome_of(*focal_.front()));
  }
  if (options_.focal_row) sinks[n_]->pass_over(chromosome_of(*focal_.front()));
}

std::string_view MafPairs::chromosome_of(const MafLine& focal) const {
  return focal.source.substr(focal_prefix_.size());
}

void MafPairs::project_row(const MafLine& focal, const Chromosome& chromosome, double score,
                           const std::vector<PairSink*>& sinks) {
  AlignedPair pair;
  if (!begin_pair(focal, chromosome, pair)) return;
  pair.score = score;
  for (std::size_t i = 0; i < n_; ++i) {
    if (!outgroups_[i].empty()) project_outgroup(i, pair, *sinks[i]);
  }
  if (options_.focal_row) {
    pair.query = pair.target;
    sinks[n_]->project(pair, 0);
  }
}

bool MafPairs::begin_pair(const MafLine& focal, const Chromosome& chromosome, AlignedPair& pair) {
  const auto row = parse_maf_row(focal);
  if (!row) {
    bad_.add(focal.line, not_a_row(focal));
    return false;
  }
  const RowScan scan = scan_row(row->columns, options_.simd);
  std::string problem = problem_of(focal.source, *row, scan);
  if (problem.empty() && row->size == 0 && of_columns_) return false;
  if (problem.empty() && row->size == 0) problem = "the focal row has no bases";
  if (problem.empty() && row->source_size != chromosome.length) {
    problem = "the row says that " + excerpt(focal.source) + " is " +
              std::to_string(row->source_size) + " bases long, but the table of lengths says " +
              std::to_string(chromosome.length) + ": use the lengths of the aligned genome";
  }
  if (!problem.empty()) {
    bad_.add(focal.line, problem);
    return false;
  }
  minus_ = row->minus;
  // One line of columns may have several focal rows.
  pair.target_line = of_columns_ && focal_.size() > 1 ? 0 : focal.line;
  pair.chromosome = chromosome.name;
  pair.end = minus_ ? row->source_size - row->start : row->start + row->size;
  pair.start = pair.end - row->size + 1;
  pair.target = on_focal_strand(row->columns, focal_buffer_);
  pair.target_gaps = scan.gaps;
  return true;
}

void MafPairs::project_outgroup(std::size_t outgroup, AlignedPair pair, PairSink& sink) {
  const Rows& rows = outgroups_[outgroup];
  QueryEnd& last = ends_[outgroup];
  MafRow row;
  const bool alone = rows.size() == 1;
  const std::string problem = alone ? take_row(*rows.front(), row, pair) : take_rows(rows, pair);
  if (!problem.empty()) return sink.bad(pair.line, problem);
  // A focal row on the minus strand would continue at its other end. Several rows have several
  // ends.
  if (minus_ || !alone || focal_.size() > 1) {
    last.forget();
  } else if (options_.insertions) {
    pair.continues =
        last.continued_by(pair, {rows.front()->source, row.minus, row.start, row.start + row.size});
  }
  sink.project(pair, static_cast<std::int64_t>(rows.size()) - 1);
}

std::string MafPairs::take_row(const MafLine& line, MafRow& row, AlignedPair& pair) {
  pair.line = line.line;
  const auto parsed = parse_maf_row(line);
  if (!parsed) return not_a_row(line);
  row = *parsed;
  pair.query = on_focal_strand(row.columns, outgroup_buffer_);
  return problem_of(line.source, row, scan_row(row.columns, options_.simd));
}

std::string MafPairs::take_rows(const Rows& rows, AlignedPair& pair) {
  const auto is_base_of_both = [](char focal, char other) {
    return base_code(focal) != kMissing && base_code(focal) == base_code(other);
  };
  std::int64_t most = -1;
  std::int64_t line = 0;
  for (const MafLine* const one : rows) {
    MafRow row;
    std::string problem = take_row(*one, row, pair);
    if (problem.empty() && pair.query.size() != pair.target.size()) {
      problem = rows_differ_in_length(pair);
    }
    if (!problem.empty()) return problem;
    const std::int64_t same =
        options_.overlaps == Overlaps::kMissing
            ? 0
            : std::inner_product(pair.target.begin(), pair.target.end(), pair.query.begin(),
                                 std::int64_t{0}, std::plus<>(), is_base_of_both);
    if (same > most) {
      most = same;
      line = pair.line;
      common_.assign(pair.query);
    } else if (same == most) {
      std::transform(common_.begin(), common_.end(), pair.query.begin(), common_.begin(),
                     agreed_letter);
    }
  }
  pair.line = line;
  pair.query = common_;
  return {};
}

// The columns along the focal chromosome's plus strand.
std::string_view MafPairs::on_focal_strand(std::string_view columns, std::string& buffer) const {
  if (!minus_) return columns;
  reverse_complement(columns, buffer);
  return buffer;
}

void MafPairs::throw_if_never_seen(std::size_t outgroup) const {
  if (sources_.empty() || outgroup == n_ || seen_[outgroup]) return;
  throw FormatError(file_, 0,
                    "no block has a source that begins with " + excerpt(names_[outgroup]) +
                        " (maf_name); the first blocks have " + quoted_list(sources_));
}

}  // namespace ancify
