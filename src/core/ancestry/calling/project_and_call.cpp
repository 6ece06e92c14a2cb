// Calls windows as soon as all alignments have passed them, and writes the calls into files.
#include "core/ancestry/calling/project_and_call.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string>

#include "core/ancestry/calling/piece_calling.h"
#include "core/ancestry/calling/window_work.h"
#include "core/genome/packed.h"
#include "core/io/file.h"

namespace ancify {

namespace {

// Divides a window. On the CPU it has at least eight pieces, so that many threads have work.
std::int64_t piece_of(const PieceCaller& by, std::int64_t window) {
  constexpr std::int64_t fewest = 8;
  constexpr auto group = static_cast<std::int64_t>(kPackedGroup);
  std::int64_t piece = std::min(by.piece(window, false), window);
  if (by.devices() > 0) return piece;
  while (window / piece < fewest && piece % (2 * group) == 0) piece /= 2;
  return piece;
}

// Calls pieces into files, one or two a chromosome.
class WindowCalls : public WindowWork {
 public:
  // All arguments must outlive this.
  WindowCalls(const PieceCaller& by, const std::vector<Chromosome>& chromosomes,
              const std::string& folder, std::int64_t window)
      : by_(by),
        chromosomes_(chromosomes),
        folder_(folder),
        outer_(folder),
        inner_(by.caller().with_phred() ? posterior_folder(folder) : folder),
        piece_(piece_of(by, window)) {
    for (const Chromosome& chromosome : chromosomes) {
      const std::int64_t n = (chromosome.length + piece_ - 1) / piece_;
      files_.emplace_back(folder_, chromosome, static_cast<std::size_t>(n),
                          by.caller().known_sites());
    }
  }

  std::size_t sequences() const override {
    return static_cast<std::size_t>(by_.caller().species());
  }
  bool needs_neighbours() const override { return by_.caller().reach() > 0; }
  SimdLevel simd() const override { return by_.caller().simd(); }
  std::int64_t piece() const override { return piece_; }
  std::size_t devices() const override { return by_.devices(); }

  void do_piece(const WindowPiece& piece, const SequenceSources& sources, std::size_t device,
                const TaskContext& context) override {
    const auto& [chromosome, number, start, end] = piece;
    CallFiles& files = files_[chromosome];
    files.open(by_.caller().with_phred());
    files.begin_piece(number);
    by_.call(
        device, {sources, chromosomes_[chromosome].length, start, end}, context,
        [&, number = number](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
          files.write(number, stretch, calls, phred, by_.caller().simd());
        });
  }

  void end_round(const std::set<std::size_t>& chromosomes) override {
    for (const std::size_t c : chromosomes) files_[c].close();
  }

  // Gives all files their final names, also on idle threads; returns one count per chromosome.
  std::vector<CallCounts> finish(const ChromosomeCalled& called, JobControl& control,
                                 const TaskContext& context) {
    std::vector<CallCounts> counts(files_.size());
    context.share(static_cast<std::int64_t>(files_.size()), [&](std::int64_t i) {
      const auto c = static_cast<std::size_t>(i);
      const CalledChromosome finished = files_[c].finish(context);
      counts[c] = finished.counts;
      control.log("Called " + chromosomes_[c].name);
      if (called) called(c, finished);
    });
    return counts;
  }

 private:
  const PieceCaller& by_;
  const std::vector<Chromosome>& chromosomes_;
  const std::string folder_;
  const OutputFolder outer_;  // declared before their files, which are destroyed first
  const OutputFolder inner_;
  std::int64_t piece_;           // positions
  std::deque<CallFiles> files_;  // by chromosome
};

}  // namespace

ProjectedAndCalled project_and_call(const std::vector<OutgroupAlignment>& outgroups,
                                    const std::vector<Chromosome>& chromosomes,
                                    const ProjectionOptions& options, const Caller& caller,
                                    const std::string& output, JobControl& control,
                                    const RunListener& listener, const WindowLimits& limits) {
  std::int64_t longest = 0;
  for (const auto& chromosome : chromosomes) longest = std::max(longest, chromosome.length);
  const DeviceCallers devices = caller.device_callers(std::min(longest, limits.window));
  const PieceCaller by(caller, devices);
  ProjectedAndCalled result;
  run_tasks(control, caller.threads(), 1, [&](std::int64_t, const TaskContext& context) {
    WindowCalls calls(by, chromosomes, output, limits.window);
    WindowSchedule schedule(calls, chromosomes, limits.window);
    result.reports = read_windows(outgroups, false, chromosomes, options, schedule, limits,
                                  listener.projected, control, context);
    result.counts = calls.finish(listener.called, control, context);
  });
  return result;
}

}  // namespace ancify
