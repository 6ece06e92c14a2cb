// Reads all alignments together, in rounds. In each round the lagging readers advance by a window,
// and threads work on the windows that all readers have passed. States change only between rounds.
#include "core/ancestry/calling/window_reading.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "core/ancestry/calling/alignment_reader.h"
#include "core/ancestry/calling/reading_order.h"
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

// The readings of the alignments that fill the windows of a genome.
class WindowReading {
 public:
  // All arguments must outlive this.
  WindowReading(const std::vector<OutgroupAlignment>& outgroups, bool focal_rows,
                const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
                const WindowLimits& limits, WindowSchedule& schedule, JobControl& control,
                const TaskContext& context)
      : outgroups_(outgroups),
        focal_rows_(focal_rows),
        chromosomes_(chromosomes),
        options_(options),
        limits_(limits),
        memory_(std::max(limits.memory, least_memory(outgroups.size(), limits.window))),
        schedule_(schedule),
        control_(control),
        context_(context),
        files_(alignment_files(outgroups)) {
    reports_.resize(outgroups.size());
  }

  // Reads all files once, and again for remaining windows. Returns a report per outgroup.
  std::vector<ProjectionReport> run(const AlignmentProjected& projected);

 private:
  using Readers = std::deque<AlignmentReader>;

  Readers open_readers(bool keep) const;
  void read_in_order(const AlignmentProjected& projected);
  void read_again();
  // Works on scheduled windows while read(i) runs for these readers.
  void do_round(const std::vector<std::size_t>& readers,
                const std::function<void(std::size_t)>& read);
  void take_notes(AlignmentReader& reader, std::size_t number, ReadingOrder& order);
  void take_reports(const AlignmentReader& reader, const std::vector<std::size_t>& outgroups,
                    const AlignmentProjected& projected);
  void tell_why_again() const;
  void tell_what_again(const std::vector<std::size_t>& windows) const;

  const std::vector<OutgroupAlignment>& outgroups_;
  const bool focal_rows_;
  const std::vector<Chromosome>& chromosomes_;
  const ProjectionOptions& options_;
  const WindowLimits& limits_;
  const std::int64_t memory_;
  WindowSchedule& schedule_;
  JobControl& control_;
  const TaskContext& context_;
  const std::vector<AlignmentFile> files_;
  std::vector<ProjectionReport> reports_;
  std::set<std::string> unsorted_;  // species
  bool is_short_ = false;           // memory ran short
};

std::vector<ProjectionReport> WindowReading::run(const AlignmentProjected& projected) {
  read_in_order(projected);
  auto left = schedule_.end_reading();
  if (!left.empty()) tell_why_again();
  for (; !left.empty(); left = schedule_.end_reading()) {
    tell_what_again(schedule_.choose(left, memory_));
    read_again();
  }
  return std::move(reports_);
}

// `keep` tells whether to write the projected sequences to keep.
WindowReading::Readers WindowReading::open_readers(bool keep) const {
  Readers readers;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const auto& [path, numbers] = files_[f];
    std::vector<AlignmentReader::Target> targets;
    for (const std::size_t i : numbers) {
      const std::string& folder = outgroups_[i].folder;
      std::unique_ptr<SequenceStore> files;
      if (keep && !folder.empty()) files = std::make_unique<FileStore>(folder, chromosomes_);
      targets.push_back({i, outgroups_[i].name_in_file, std::move(files)});
    }
    if (focal_rows_) targets.push_back({outgroups_.size() + f, "", nullptr, true});
    control_.expect(InputFile(path).size());
    readers.emplace_back(path, std::move(targets), schedule_.memory(), schedule_.windows(),
                         chromosomes_, options_, control_, context_);
  }
  return readers;
}

void WindowReading::do_round(const std::vector<std::size_t>& readers,
                             const std::function<void(std::size_t)>& read) {
  if (schedule_.has_work()) control_.set_place(schedule_.place());
  schedule_.begin_round();
  const std::size_t n = readers.size() + schedule_.parts();
  // Readers come first, as they take longest.
  context_.share_in_order(static_cast<std::int64_t>(n), [&](std::int64_t i) {
    const auto part = static_cast<std::size_t>(i);
    if (part < readers.size()) {
      read(readers[part]);
    } else {
      schedule_.do_part(part - readers.size(), context_);
    }
  });
  context_.throw_if_stopped();
  schedule_.end_round();
}

void WindowReading::read_in_order(const AlignmentProjected& projected) {
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
    if (behind.empty() && !schedule_.has_work()) return;
    do_round(behind, [&](std::size_t r) {
      readers[r].read([&] { return order.has_turn(readers[r].passage(), turn); });
    });
    for (const std::size_t r : behind) {
      take_notes(readers[r], r, order);
      if (readers[r].has_ended()) take_reports(readers[r], files_[r].outgroups, projected);
    }
    for (const std::size_t c : order.take_moved()) schedule_.schedule_passed(c, order.passed(c));
    if (schedule_.keep_to(memory_)) is_short_ = true;
  }
}

// Works only after all files have ended, as any block may come late.
void WindowReading::read_again() {
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
  schedule_.schedule_waiting();
  while (schedule_.has_work()) do_round({}, {});
}

// Takes up the windows filled in this round, and the reader's current position.
void WindowReading::take_notes(AlignmentReader& reader, std::size_t number, ReadingOrder& order) {
  for (const auto& store : reader.stores()) {
    for (const std::size_t window : store->take_begun()) schedule_.note_begun(window);
    for (const std::size_t window : store->take_late()) {
      schedule_.note_late(window);
      order.note_late(number, schedule_.windows().chromosome_of(window));
      unsorted_.insert(outgroups_[files_[number].outgroups.front()].species);
    }
  }
  order.move(number, reader.passage());
  if (reader.has_ended()) order.end(number);
}

void WindowReading::take_reports(const AlignmentReader& reader,
                                 const std::vector<std::size_t>& outgroups,
                                 const AlignmentProjected& projected) {
  for (std::size_t k = 0; k < outgroups.size(); ++k) {
    const std::size_t i = outgroups[k];
    reports_[i] = reader.reports()[k];
    control_.log("Projected " + outgroups_[i].species);
    if (projected) projected(i, reports_[i], reader.stores()[k]->checksums());
  }
}

void WindowReading::tell_why_again() const {
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

void WindowReading::tell_what_again(const std::vector<std::size_t>& windows) const {
  std::set<std::size_t> chromosomes;
  for (const std::size_t w : windows) chromosomes.insert(schedule_.windows().chromosome_of(w));
  std::vector<std::string> names;
  names.reserve(chromosomes.size());
  for (const std::size_t c : chromosomes) names.push_back(chromosomes_[c].name);
  const std::string n = windows.size() == 1 ? "a part" : std::to_string(windows.size()) + " parts";
  control_.log("Reading all alignments again for " + n + " of " + quoted_list(names));
}

}  // namespace

std::vector<AlignmentFile> alignment_files(const std::vector<OutgroupAlignment>& outgroups) {
  std::vector<AlignmentFile> files;
  for (std::size_t i = 0; i < outgroups.size(); ++i) {
    const std::string& path = outgroups[i].file;
    auto found = std::find_if(files.begin(), files.end(),
                              [&](const AlignmentFile& file) { return file.path == path; });
    if (found == files.end()) found = files.insert(found, {path, {}});
    found->outgroups.push_back(i);
  }
  return files;
}

std::vector<ProjectionReport> read_windows(const std::vector<OutgroupAlignment>& outgroups,
                                           bool focal_rows,
                                           const std::vector<Chromosome>& chromosomes,
                                           const ProjectionOptions& options,
                                           WindowSchedule& schedule, const WindowLimits& limits,
                                           const AlignmentProjected& projected, JobControl& control,
                                           const TaskContext& context) {
  return WindowReading(outgroups, focal_rows, chromosomes, options, limits, schedule, control,
                       context)
      .run(projected);
}

}  // namespace ancify
