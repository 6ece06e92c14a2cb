// Projects alignment files in parallel, each on a thread.
#include "core/ancestry/projection/projection.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/byte_source.h"
#include "core/io/file.h"
#include "core/io/record_reader.h"
#include "core/io/text.h"

namespace ancify {

namespace {

[[noreturn]] void throw_nothing_found(const std::string& file,
                                      const std::vector<Chromosome>& chromosomes,
                                      const ProjectionReport& report, const std::string& doubt) {
  const auto& others = report.other_names;
  if (report.bad > 0 && others.empty()) {
    throw FormatError(
        file, report.bad_examples.front().line,
        "every block is bad; the first: " + report.bad_examples.front().problem + doubt);
  }
  if (others.empty() && report.secondary > 0) {
    throw FormatError(file, 0,
                      "all of its alignments are secondary, and are left out (" +
                          std::to_string(report.secondary) + "): give the primary ones");
  }
  if (others.empty()) throw FormatError(file, 0, "there is no alignment block in this file");
  throw FormatError(file, 0,
                    "no block can be used on the chromosomes asked for (" +
                        quoted_list(names_of(chromosomes)) + "); this file has " +
                        quoted_list(others) + ". Is this the alignment of another genome?");
}

std::vector<std::string> names_in_file(const std::vector<ProjectionTarget>& targets) {
  std::vector<std::string> names;
  names.reserve(targets.size());
  for (const auto& target : targets) {
    if (!target.focal) names.push_back(target.name_in_file);
  }
  return names;
}

ProjectionOptions options_for(const std::vector<ProjectionTarget>& targets,
                              ProjectionOptions options) {
  constexpr std::size_t most = std::size_t{1} << 18;  // of all outgroups
  constexpr std::size_t fewest = std::size_t{1} << 13;
  options.focal_row = !targets.empty() && targets.back().focal;
  const std::size_t share = most / std::max<std::size_t>(targets.size(), 1);
  options.gathered = std::min(options.gathered, std::max(share, fewest));
  return options;
}

ProjectionOptions options_for(const ProjectionTarget& target, ProjectionOptions options) {
  options.focal_row = target.focal;
  if (target.focal) options.overlaps = Overlaps::kMissing;  // all blocks count
  return options;
}

}  // namespace

AlignmentProjector::AlignmentProjector(const std::string& file,
                                       const std::vector<ProjectionTarget>& targets,
                                       const std::vector<Chromosome>& chromosomes,
                                       const ProjectionOptions& options, const TaskContext& context,
                                       const std::vector<AlignmentFormat>& formats)
    : file_(file),
      chromosomes_(chromosomes),
      options_(options_for(targets, options)),
      bad_(file, options.on_bad_block),
      pairs_(file, names_in_file(targets), chromosomes, options_, context.inputs(), bad_, formats) {
  if (options.open_focal) check_.emplace(options.open_focal, chromosomes);
  for (const auto& target : targets) {
    auto& projector =
        projectors_.emplace_back(file, chromosomes, *target.store, check_ ? &*check_ : nullptr,
                                 options_for(target, options_), context);
    sinks_.push_back(&projector);
  }
}

std::size_t AlignmentProjector::consume(std::string_view text, bool last) {
  return pairs_.consume(text, last, sinks_);
}

void AlignmentProjector::flush(std::size_t chromosome, std::int64_t position) {
  for (auto& projector : projectors_) projector.flush(chromosome, position);
}

ProjectionReport AlignmentProjector::report(const Projector& projector) const {
  ProjectionReport report = projector.report();
  report.shared = projector.shared();
  report.bad += bad_.count();
  auto& examples = report.bad_examples;
  examples.insert(examples.end(), bad_.examples().begin(), bad_.examples().end());
  std::sort(examples.begin(), examples.end(),
            [](const auto& a, const auto& b) { return a.line < b.line; });
  examples.resize(std::min(examples.size(), BadBlocks::kMostExamples));
  return report;
}

// A question for messages: the last format accepts any text, so the file may have no known format.
std::string AlignmentProjector::doubt() const {
  const auto* const format = pairs_.format();
  const bool is_sure = format != nullptr && format != &alignment_formats().back();
  return is_sure ? "." : ". Is this an " + alignment_formats().back().name + " file?";
}

std::vector<ProjectionReport> AlignmentProjector::finish() {
  std::vector<ProjectionReport> reports;
  for (std::size_t i = 0; i < projectors_.size(); ++i) {
    reports.push_back(report(projectors_[i]));
    const auto& blocks = reports.back().blocks;
    if (std::any_of(blocks.begin(), blocks.end(), [](auto n) { return n > 0; })) continue;
    pairs_.throw_if_never_seen(i);
    throw_nothing_found(file_, chromosomes_, reports.back(), doubt());
  }
  for (auto& projector : projectors_) projector.finish();
  return reports;
}

std::vector<ProjectionReport> project_alignment(const std::string& file,
                                                const std::vector<ProjectionTarget>& targets,
                                                const std::vector<Chromosome>& chromosomes,
                                                const ProjectionOptions& options,
                                                JobControl& control, const TaskContext& context) {
  const auto source = open_text(file, options.chunk_size, context);
  AlignmentProjector projector(file, targets, chromosomes, options, context);
  for_each_chunk(*source, options.chunk_size, control, context,
                 [&](std::string_view text, bool last) { return projector.consume(text, last); });

  auto reports = projector.finish();
  context.throw_if_stopped();
  for (const auto& target : targets) target.store->commit(context);
  return reports;
}

namespace {

// The alignments of each file; files in the order of their first alignment.
std::vector<std::vector<std::size_t>> by_file(const std::vector<Alignment>& alignments) {
  std::vector<std::vector<std::size_t>> files;
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    const auto [at, is_new] = index.emplace(alignments[i].file, files.size());
    if (is_new) files.emplace_back();
    files[at->second].push_back(i);
  }
  return files;
}

}  // namespace

std::vector<ProjectionReport> project_alignments(const std::vector<Alignment>& alignments,
                                                 const std::vector<Chromosome>& chromosomes,
                                                 const ProjectionOptions& options, int threads,
                                                 JobControl& control,
                                                 const AlignmentProjected& projected) {
  const auto files = by_file(alignments);
  for (const auto& numbers : files) {
    control.expect(InputFile(alignments[numbers.front()].file).size());
  }
  std::vector<ProjectionReport> reports(alignments.size());
  run_tasks(control, threads, static_cast<std::int64_t>(files.size()),
            [&](std::int64_t f, const TaskContext& context) {
              const auto& numbers = files[static_cast<std::size_t>(f)];
              std::vector<ProjectionTarget> targets;
              for (const std::size_t i : numbers) {
                targets.push_back({alignments[i].name_in_file, alignments[i].store.get()});
              }
              auto of_file = project_alignment(alignments[numbers.front()].file, targets,
                                               chromosomes, options, control, context);
              for (std::size_t k = 0; k < numbers.size(); ++k) {
                reports[numbers[k]] = std::move(of_file[k]);
                const Alignment& alignment = alignments[numbers[k]];
                control.log("Projected " + alignment.species);
                if (projected) {
                  projected(numbers[k], reports[numbers[k]], alignment.store->checksums());
                }
              }
            });
  return reports;
}

}  // namespace ancify
