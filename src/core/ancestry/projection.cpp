#include "core/ancestry/projection.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "core/exec/errors.h"
#include "core/io/axt.h"
#include "core/io/byte_source.h"
#include "core/io/file.h"
#include "core/io/record_reader.h"
#include "core/io/row_scan.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;

// The same name with a leading chr put on or taken off.
std::string with_other_prefix(const std::string& name) {
  return name.compare(0, 3, "chr") == 0 ? name.substr(3) : "chr" + name;
}

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t most_shown = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most_shown); ++i) {
    list += (i > 0 ? ", " : "") + excerpt(names[i]);
  }
  return list + (names.size() > most_shown ? ", ..." : "");
}

[[noreturn]] void throw_nothing_found(const std::string& axt,
                                      const std::vector<Chromosome>& chromosomes,
                                      const ProjectionReport& report) {
  const auto& others = report.other_names;
  if (report.bad > 0 && others.empty()) {
    throw FormatError(axt, report.bad_examples.front().line,
                      "every block is bad; the first: " + report.bad_examples.front().problem +
                          ". Is this an AXT file?");
  }
  if (others.empty()) throw FormatError(axt, 0, "there is no alignment block in this file");
  std::vector<std::string> wanted;
  wanted.reserve(chromosomes.size());
  for (const auto& chromosome : chromosomes) wanted.push_back(chromosome.name);
  const std::string hint =
      report.other_prefix.empty()
          ? ". Is this the alignment of another genome?"
          : ". The names differ only by a leading 'chr': change them in the table of lengths";
  throw FormatError(axt, 0,
                    "no block can be used on the chromosomes asked for (" + quoted_list(wanted) +
                        "); this file has " + quoted_list(others) + hint);
}

}  // namespace

Projector::Projector(const std::string& file, const std::vector<Chromosome>& chromosomes,
                     SequenceStore& store, const ProjectionOptions& options,
                     const TaskContext& context)
    : chromosomes_(chromosomes),
      store_(store),
      context_(context),
      simd_(options.simd),
      focal_row_(options.focal_row),
      bad_(file, options.on_bad_block),
      parser_(bad_, options.simd),
      filled_(chromosomes.size(), 0),
      gathered_(kPiece) {
  report_.blocks.resize(chromosomes.size());
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    index_[chromosomes[i].name] = i;
    other_prefix_[with_other_prefix(chromosomes[i].name)] = chromosomes[i].name;
  }
}

std::size_t Projector::consume(std::string_view text, bool last) {
  return parser_.consume(text, last, [&](const AxtBlock& block) { project(block); });
}

void Projector::finish() {
  for (std::size_t i = 0; i < chromosomes_.size(); ++i) fill_up_to(i, chromosomes_[i].length);
  write_gathered();
}

ProjectionReport Projector::report() const {
  ProjectionReport report = report_;
  report.bad = bad_.count();
  report.bad_examples = bad_.examples();
  return report;
}

void Projector::project(const AxtBlock& block) {
  if (block.focal.size() != block.outgroup.size()) {
    bad_.add(block.line, "the block's rows differ in length (" +
                             std::to_string(block.focal.size()) + " and " +
                             std::to_string(block.outgroup.size()) + ")");
    return;
  }
  const auto found = index_.find(std::string(block.chromosome));
  if (found == index_.end()) {
    pass_over(block.chromosome);
    return;
  }
  const std::string problem = problem_of(block, chromosomes_[found->second]);
  if (problem.empty()) {
    write(block, found->second);
  } else {
    bad_.add(block.line, problem);
  }
}

std::string Projector::problem_of(const AxtBlock& block, const Chromosome& chromosome) const {
  const auto range = [&] {
    return std::string(block.chromosome) + ":" + std::to_string(block.start) + "-" +
           std::to_string(block.end);
  };
  if (block.start < 1 || block.end < block.start || block.end > chromosome.length) {
    return "the block's coordinates " + range() + " are not inside the chromosome, which is " +
           std::to_string(chromosome.length) + " bases long";
  }
  if (!block.only_letters_and_gaps) {
    return "the block's rows hold something else than letters and -";
  }
  const auto letters = static_cast<std::int64_t>(block.focal.size()) - block.focal_gaps;
  if (letters != block.end - block.start + 1) {
    return "the block's coordinates " + range() + " span " +
           std::to_string(block.end - block.start + 1) + " positions but its focal row has " +
           std::to_string(letters) + " letters";
  }
  return {};
}

void Projector::pass_over(std::string_view name) {
  constexpr std::size_t most_names = 20;
  ++report_.passed_over;
  const auto similar = other_prefix_.find(std::string(name));
  if (similar != other_prefix_.end()) {
    report_.other_prefix.push_back(similar->second);
    other_prefix_.erase(similar);
  }
  auto& names = report_.other_names;
  if (names.size() < most_names && std::find(names.begin(), names.end(), name) == names.end()) {
    names.emplace_back(name);
  }
}

void Projector::write(const AxtBlock& block, std::size_t chromosome) {
  fill_up_to(chromosome, block.start - 1);
  go_to(chromosome, block.start - 1);
  const std::string_view row = focal_row_ ? block.focal : block.outgroup;
  gather(block.focal.size(), [&](char* out, std::size_t from, std::size_t n) {
    return copy_columns(block.focal.substr(from, n), &row[from], out, simd_);
  });
  filled_[chromosome] = std::max(filled_[chromosome], block.end);
  ++report_.blocks[chromosome];
}

// Blocks nearly always come in order, so N is written only into the gaps they leave.
void Projector::fill_up_to(std::size_t chromosome, std::int64_t position) {
  auto& filled = filled_[chromosome];
  if (position <= filled) return;
  go_to(chromosome, filled);
  gather(static_cast<std::size_t>(position - filled), [](char* out, std::size_t, std::size_t n) {
    std::memset(out, 'N', n);
    return n;
  });
  filled = position;
}

void Projector::go_to(std::size_t chromosome, std::int64_t position) {
  const std::int64_t next = position_ + static_cast<std::int64_t>(n_gathered_);
  if (chromosome == chromosome_ && position == next) return;
  write_gathered();
  chromosome_ = chromosome;
  position_ = position;
}

template <class Put>
void Projector::gather(std::size_t n, Put put) {
  for (std::size_t done = 0; done < n;) {
    const std::size_t here = std::min(n - done, kPiece - n_gathered_);
    n_gathered_ += put(&gathered_[n_gathered_], done, here);
    done += here;
    if (n_gathered_ == kPiece) write_gathered();
  }
}

void Projector::write_gathered() {
  if (n_gathered_ == 0) return;
  context_.throw_if_stopped();
  store_.write(chromosome_, position_, gathered_.data(), n_gathered_);
  position_ += static_cast<std::int64_t>(n_gathered_);
  n_gathered_ = 0;
}

ProjectionReport project_alignment(const std::string& axt,
                                   const std::vector<Chromosome>& chromosomes, SequenceStore& store,
                                   const ProjectionOptions& options, JobControl& control,
                                   const TaskContext& context) {
  const auto source = open_text(axt, options.chunk_size, context);
  Projector projector(axt, chromosomes, store, options, context);
  const auto read = [&](char* out, std::size_t n) {
    const std::int64_t before = source->consumed();
    const std::size_t got = source->read(out, n);
    control.advance(source->consumed() - before);
    return got;
  };
  for_each_chunk(read, options.chunk_size, context,
                 [&](std::string_view text, bool last) { return projector.consume(text, last); });

  ProjectionReport report = projector.report();
  const bool found =
      std::any_of(report.blocks.begin(), report.blocks.end(), [](auto n) { return n > 0; });
  if (!found) throw_nothing_found(axt, chromosomes, report);
  projector.finish();
  context.throw_if_stopped();
  store.commit();
  return report;
}

std::vector<ProjectionReport> project_alignments(const std::vector<Alignment>& alignments,
                                                 const std::vector<Chromosome>& chromosomes,
                                                 const ProjectionOptions& options, int threads,
                                                 JobControl& control) {
  for (const auto& alignment : alignments) control.expect(InputFile(alignment.axt).size());
  std::vector<ProjectionReport> reports(alignments.size());
  run_tasks(control, threads, static_cast<std::int64_t>(alignments.size()),
            [&](std::int64_t i, const TaskContext& context) {
              const auto& [species, axt, store] = alignments[i];
              reports[i] = project_alignment(axt, chromosomes, *store, options, control, context);
              control.log("Projected " + species);
            });
  return reports;
}

}  // namespace ancify
