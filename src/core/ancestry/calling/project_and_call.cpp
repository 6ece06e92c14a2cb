// Reads all alignments together, in rounds. In each round the lagging readers advance by a window,
// and threads call the windows that all readers have passed. States change only between rounds.
#include "core/ancestry/calling/project_and_call.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "core/ancestry/calling/alignment_reader.h"
#include "core/ancestry/calling/piece_calling.h"
#include "core/ancestry/calling/reading_order.h"
#include "core/ancestry/calling/window_calls.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_store.h"
#include "core/io/file.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Sorted alignments need a few windows at a time.
std::int64_t least_memory(std::size_t species, std::int64_t window) {
  return 4 * static_cast<std::int64_t>(species * packed_size(static_cast<std::size_t>(window)));
}

// The windows of a genome, and the readings of the alignments that fill them.
class Pipeline {
 public:
  // All arguments must outlive this.
  Pipeline(const std::vector<OutgroupAlignment>& outgroups,
           const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
           const PipelineLimits& limits, WindowCalls& calls, JobControl& control,
           const TaskContext& context)
      : outgroups_(outgroups),
        chromosomes_(chromosomes),
        options_(options),
        limits_(limits),
        memory_(std::max(limits.memory, least_memory(outgroups.size(), limits.window))),
        calls_(calls),
        control_(control),
        context_(context) {
    reports_.resize(outgroups.size());
    for (std::size_t i = 0; i < outgroups.size(); ++i) targets_of(outgroups[i].file).push_back(i);
  }

  // Reads all files once, and again for remaining windows. Returns a report per outgroup.
  std::vector<ProjectionReport> run(const AlignmentProjected& projected);

 private:
  using Readers = std::deque<AlignmentReader>;
  struct File {
    std::string path;
    std::vector<std::size_t> outgroups;
  };

  std::vector<std::size_t>& targets_of(const std::string& path) {
    const auto found = std::find_if(files_.begin(), files_.end(),
                                    [&](const File& file) { return file.path == path; });
    if (found != files_.end()) return found->outgroups;
    files_.push_back({path, {}});
    return files_.back().outgroups;
  }

  Readers open_readers(bool keep) const;
  void read_in_order(const AlignmentProjected& projected);
  void read_again();
  // Calls scheduled windows while read(i) runs for these readers.
  void do_round(const std::vector<std::size_t>& readers,
                const std::function<void(std::size_t)>& read);
  void take_notes(AlignmentReader& reader, std::size_t number, ReadingOrder& order);
  void take_reports(const AlignmentReader& reader, const std::vector<std::size_t>& outgroups,
                    const AlignmentProjected& projected);
  void tell_why_again() const;
  void tell_what_again(const std::vector<std::size_t>& windows) const;

  const std::vector<OutgroupAlignment>& outgroups_;
  const std::vector<Chromosome>& chromosomes_;
  const ProjectionOptions& options_;
  const PipelineLimits& limits_;
  const std::int64_t memory_;
  WindowCalls& calls_;
  JobControl& control_;
  const TaskContext& context_;
  std::vector<File> files_;
  std::vector<ProjectionReport> reports_;
  std::set<std::string> unsorted_;  // species
  bool is_short_ = false;           // memory ran short
};

std::vector<ProjectionReport> Pipeline::run(const AlignmentProjected& projected) {
  read_in_order(projected);
  auto left = calls_.end_reading();
  if (!left.empty()) tell_why_again();
  for (; !left.empty(); left = calls_.end_reading()) {
    tell_what_again(calls_.choose(left, memory_));
    read_again();
  }
  return std::move(reports_);
}

// `keep` tells whether to write the projected sequences to keep.
Pipeline::Readers Pipeline::open_readers(bool keep) const {
  Readers readers;
  for (const auto& [path, numbers] : files_) {
    std::vector<AlignmentReader::Target> targets;
    for (const std::size_t i : numbers) {
      const std::string& folder = outgroups_[i].folder;
      std::unique_ptr<SequenceStore> files;
      if (keep && !folder.empty()) files = std::make_unique<FileStore>(folder, chromosomes_);
      targets.push_back({i, outgroups_[i].name_in_file, std::move(files)});
    }
    control_.expect(InputFile(path).size());
    readers.emplace_back(path, std::move(targets), calls_.memory(), calls_.windows(), chromosomes_,
                         options_, control_, context_);
  }
  return readers;
}

void Pipeline::do_round(const std::vector<std::size_t>& readers,
                        const std::function<void(std::size_t)>& read) {
  if (calls_.has_calls()) control_.set_place(calls_.place());
  calls_.begin_round();
  const std::size_t n = readers.size() + calls_.parts();
  // Readers come first, as they take longest.
  context_.share_in_order(static_cast<std::int64_t>(n), [&](std::int64_t i) {
    const auto part = static_cast<std::size_t>(i);
    if (part < readers.size()) {
      read(readers[part]);
    } else {
      calls_.do_part(part - readers.size(), context_);
    }
  });
  context_.throw_if_stopped();
  calls_.end_round();
}

void Pipeline::read_in_order(const AlignmentProjected& projected) {
  Readers readers = open_readers(true);
  ReadingOrder order(readers.size(), chromosomes_, limits_.window);
  for (;;) {
    const auto turn = order.next_turn();
    std::vector<std::size_t> behind;
    for (std::size_t r = 0; r < readers.size(); ++r) {
      if (!readers[r].has_ended() && order.has_turn(readers[r].passage(), turn)) {
        behind.push_back(r);
      }
    }
    if (behind.empty() && !calls_.has_calls()) return;
    do_round(behind, [&](std::size_t r) {
      readers[r].read([&] { return order.has_turn(readers[r].passage(), turn); });
    });
    for (const std::size_t r : behind) {
      take_notes(readers[r], r, order);
      if (readers[r].has_ended()) take_reports(readers[r], files_[r].outgroups, projected);
    }
    for (const std::size_t c : order.take_moved()) calls_.schedule_passed(c, order.passed(c));
    if (calls_.keep_to(memory_)) is_short_ = true;
  }
}

// Calls only after all files have ended, as any block may come late.
void Pipeline::read_again() {
  Readers readers = open_readers(false);
  const auto has_ended = [](const AlignmentReader& reader) { return reader.has_ended(); };
  while (!std::all_of(readers.begin(), readers.end(), has_ended)) {
    std::vector<std::size_t> going;
    for (std::size_t r = 0; r < readers.size(); ++r) {
      if (!readers[r].has_ended()) going.push_back(r);
    }
    do_round(going, [&](std::size_t r) {
      const Passage& passage = readers[r].passage();
      readers[r].read([&, begun = passage.chromosome] { return passage.chromosome == begun; });
    });
  }
  calls_.schedule_waiting();
  while (calls_.has_calls()) do_round({}, {});
}

// Takes up the windows filled in this round, and the reader's current position.
void Pipeline::take_notes(AlignmentReader& reader, std::size_t number, ReadingOrder& order) {
  for (const auto& store : reader.stores()) {
    for (const std::size_t window : store->take_begun()) calls_.note_begun(window);
    for (const std::size_t window : store->take_late()) {
      calls_.note_late(window);
      order.note_late(number, calls_.windows().chromosome_of(window));
      unsorted_.insert(outgroups_[files_[number].outgroups.front()].species);
    }
  }
  order.move(number, reader.passage());
  if (reader.has_ended()) order.end(number);
}

void Pipeline::take_reports(const AlignmentReader& reader,
                            const std::vector<std::size_t>& outgroups,
                            const AlignmentProjected& projected) {
  for (std::size_t k = 0; k < outgroups.size(); ++k) {
    const std::size_t i = outgroups[k];
    reports_[i] = reader.reports()[k];
    control_.log("Projected " + outgroups_[i].species);
    if (projected) projected(i, reports_[i], reader.stores()[k]->checksums());
  }
}

void Pipeline::tell_why_again() const {
  if (!unsorted_.empty()) {
    control_.log("Sort these alignments by chromosome and position, and they are read only once: " +
                 quoted_list({unsorted_.begin(), unsorted_.end()}));
  }
  if (is_short_) {
    control_.log("`memory` (" + std::to_string(memory_) +
                 " bytes) does not hold all bases that wait for other alignments. They wait "
                 "least if all have the same order of chromosomes");
  }
}

void Pipeline::tell_what_again(const std::vector<std::size_t>& windows) const {
  std::set<std::size_t> chromosomes;
  for (const std::size_t w : windows) chromosomes.insert(calls_.windows().chromosome_of(w));
  std::vector<std::string> names;
  names.reserve(chromosomes.size());
  for (const std::size_t c : chromosomes) names.push_back(chromosomes_[c].name);
  const std::string n = windows.size() == 1 ? "a part" : std::to_string(windows.size()) + " parts";
  control_.log("Reading all alignments again for " + n + " of " + quoted_list(names));
}

}  // namespace

ProjectedAndCalled project_and_call(const std::vector<OutgroupAlignment>& outgroups,
                                    const std::vector<Chromosome>& chromosomes,
                                    const ProjectionOptions& options, const Caller& caller,
                                    const std::string& output, JobControl& control,
                                    const RunListener& listener, const PipelineLimits& limits) {
  std::int64_t longest = 0;
  for (const auto& chromosome : chromosomes) longest = std::max(longest, chromosome.length);
  const DeviceCallers devices = caller.device_callers(std::min(longest, limits.window));
  const PieceCaller by(caller, devices);
  ProjectedAndCalled result;
  run_tasks(control, caller.threads(), 1, [&](std::int64_t, const TaskContext& context) {
    WindowCalls calls(by, chromosomes, output, limits.window);
    result.reports = Pipeline(outgroups, chromosomes, options, limits, calls, control, context)
                         .run(listener.projected);
    result.counts = calls.finish(listener.called, control, context);
  });
  return result;
}

}  // namespace ancify
