// Finds the species' rows in MAF blocks, checks them, and turns them to the focal plus strand.
#include "core/ancestry/projection/maf_pairs.h"

#include <algorithm>

#include "core/exec/errors.h"
#include "core/formats/alignment/row_scan.h"
#include "core/genome/complement.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// The inconsistency in a row; empty if there is none.
std::string problem_of(const MafRow& row, const RowScan& scan) {
  const auto bases = static_cast<std::int64_t>(row.columns.size()) - scan.gaps;
  if (!scan.only_letters_and_gaps) return "the row contains characters other than letters and -";
  if (bases != row.size) {
    return "the row's size is " + std::to_string(row.size) + ", but it has " +
           std::to_string(bases) + " bases";
  }
  if (row.start + row.size > row.source_size) {
    return "the row's coordinates (start " + std::to_string(row.start) + ", size " +
           std::to_string(row.size) + ") are not inside its sequence, which is " +
           std::to_string(row.source_size) + " bases long";
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
  const auto add = [&](const std::string& name, std::size_t species) {
    if (name.empty()) return;
    by_first_letter_[static_cast<unsigned char>(name.front())].push_back({name, species});
  };
  for (std::size_t i = 0; i < n_; ++i) add(names_[i], i);
  add(options.focal_name, n_);
  for (auto& some : by_first_letter_) {
    std::stable_sort(some.begin(), some.end(),
                     [](const Name& a, const Name& b) { return a.text.size() > b.text.size(); });
  }
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
  if (source.empty()) return n_ + 1;
  for (const auto& [name, species] : by_first_letter_[static_cast<unsigned char>(source.front())]) {
    if (source.substr(0, name.size()) != name) continue;
    if (source.size() == name.size() || source[name.size()] == '.') return species;
  }
  return n_ + 1;
}

void MafPairs::find_rows(const MafBlock& block) {
  focal_ = {};
  std::fill(outgroups_.begin(), outgroups_.end(), Rows());
  bool focal_is_known = false;
  for (const auto& row : block.rows) {
    const bool known = is_known_focal(row.source);
    const std::size_t species = known ? n_ : species_of(row.source);
    if (species > n_) continue;
    Rows& rows = species == n_ ? focal_ : outgroups_[species];
    if (rows.first == nullptr || (known && !focal_is_known)) rows.first = &row;
    focal_is_known |= known;
    ++rows.n;
  }
  for (std::size_t i = 0; i < n_; ++i) seen_[i] = seen_[i] || outgroups_[i].n > 0;
}

void MafPairs::project(const MafBlock& block, const std::vector<PairSink*>& sinks) {
  remember_sources(block);
  const bool focal_alone = options_.focal_row;
  if (options_.focal_name.empty() ||
      (!focal_alone && std::find(names_.begin(), names_.end(), "") != names_.end())) {
    throw InputError(
        "'" + file_ +
        "' is a MAF file: set maf_name and focal_maf_name to the prefixes of the outgroup's and "
        "the focal species' sources. Its first block has " +
        quoted_list(sources_));
  }
  find_rows(block);
  if (focal_.first == nullptr) {
    std::vector<std::string> sources;
    for (const auto& row : block.rows) sources.emplace_back(row.source);
    bad_.add(block.line, "this block has no row of the focal species, whose sources begin with " +
                             excerpt(focal_prefix_) + " (focal_maf_name); it has " +
                             (sources.empty() ? "no row at all" : quoted_list(sources)));
    return;
  }
  if (focal_.first->source.size() < focal_prefix_.size()) {
    bad_.add(focal_.first->line,
             "the focal row's source is " + excerpt(focal_.first->source) +
                 ", without a chromosome: it must be focal_maf_name, a dot and the chromosome");
    return;
  }
  const auto name = focal_.first->source.substr(focal_prefix_.size());
  const auto wanted = wanted_.find(name);
  if (!wanted) {
    for (std::size_t i = 0; i < n_; ++i) {
      if (focal_alone || outgroups_[i].n > 0) sinks[i]->pass_over(name);
    }
    return;
  }
  AlignedPair pair;
  if (!begin_pair(chromosomes_[*wanted], pair)) return;
  if (focal_alone) {
    pair.query = pair.target;
    sinks.front()->project(pair, 0);
    return;
  }
  for (std::size_t i = 0; i < n_; ++i) {
    if (outgroups_[i].n > 0) project_outgroup(i, pair, *sinks[i]);
  }
}

bool MafPairs::begin_pair(const Chromosome& chromosome, AlignedPair& pair) {
  const std::int64_t line = focal_.first->line;
  const auto row = parse_maf_row(*focal_.first);
  if (!row) {
    bad_.add(line, not_a_row(*focal_.first));
    return false;
  }
  const RowScan scan = scan_row(row->columns, options_.simd);
  std::string problem = problem_of(*row, scan);
  if (problem.empty() && row->size == 0) problem = "the focal row has no bases";
  if (problem.empty() && row->source_size != chromosome.length) {
    problem = "the row says that " + excerpt(focal_.first->source) + " is " +
              std::to_string(row->source_size) + " bases long, but the table of lengths says " +
              std::to_string(chromosome.length) + ": use the lengths of the aligned genome";
  }
  if (!problem.empty()) {
    bad_.add(line, problem);
    return false;
  }
  minus_ = row->minus;
  pair.target_line = line;
  pair.chromosome = chromosome.name;
  pair.end = minus_ ? row->source_size - row->start : row->start + row->size;
  pair.start = pair.end - row->size + 1;
  pair.target = on_focal_strand(row->columns, focal_buffer_);
  pair.target_gaps = scan.gaps;
  return true;
}

void MafPairs::project_outgroup(std::size_t outgroup, AlignedPair pair, PairSink& sink) {
  const Rows& rows = outgroups_[outgroup];
  pair.line = rows.first->line;
  const auto row = parse_maf_row(*rows.first);
  if (!row) return sink.bad(pair.line, not_a_row(*rows.first));
  const std::string problem = problem_of(*row, scan_row(row->columns, options_.simd));
  if (!problem.empty()) return sink.bad(pair.line, problem);
  pair.query = on_focal_strand(row->columns, outgroup_buffer_);
  QueryEnd& last = ends_[outgroup];
  // A focal row on the minus strand would continue at its other end.
  if (minus_) {
    last.forget();
  } else if (options_.insertions) {
    pair.continues = last.continued_by(
        pair, {rows.first->source, row->minus, row->start, row->start + row->size});
  }
  sink.project(pair, focal_.n + rows.n - 2);
}

// The columns along the focal chromosome's plus strand.
std::string_view MafPairs::on_focal_strand(std::string_view columns, std::string& buffer) const {
  if (!minus_) return columns;
  reverse_complement(columns, buffer);
  return buffer;
}

void MafPairs::throw_if_never_seen(std::size_t outgroup) const {
  if (sources_.empty() || options_.focal_row || seen_[outgroup]) return;
  throw FormatError(file_, 0,
                    "no block has a source that begins with " + excerpt(names_[outgroup]) +
                        " (maf_name); the first blocks have " + quoted_list(sources_));
}

}  // namespace ancify
