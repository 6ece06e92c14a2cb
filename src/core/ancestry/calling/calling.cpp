// Cuts chromosomes into pieces, calls them on threads or devices, and writes their files.
#include "core/ancestry/calling/calling.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "core/ancestry/calling/pattern_caller.h"
#include "core/ancestry/calling/piece_calling.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/stretch.h"
#include "core/io/file.h"

namespace ancify {

Caller::Caller(std::unique_ptr<const StretchCaller> method, const Backend& backend, bool with_phred)
    : Caller(std::move(method), backend, with_phred, open_call_devices(backend)) {}

Caller::Caller(std::unique_ptr<const StretchCaller> method, const Backend& backend, bool with_phred,
               CallDevices devices)
    : method_(std::move(method)),
      backend_(backend),
      with_phred_(with_phred),
      devices_(std::move(devices)) {
  if (!devices_.empty()) on_devices_ = method_->on_devices(with_phred);
  if (!on_devices_) devices_.clear();
}

Caller::Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred)
    : Caller(std::move(method), backend, with_phred, open_call_devices(backend)) {}

Caller::Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred,
               CallDevices devices)
    : Caller(std::make_unique<PatternCaller>(std::move(method), with_phred), backend, with_phred,
             std::move(devices)) {}

DeviceCallers Caller::device_callers(std::int64_t longest) const {
  DeviceCallers callers;
  for (const auto& device : devices_) {
    callers.push_back(
        std::make_unique<DeviceCaller>(*device, *on_devices_, longest, backend_.gpu_memory));
  }
  return callers;
}

namespace {

// A part of a chromosome that one task calls.
struct Piece {
  std::size_t number;  // index among all pieces
  std::size_t chromosome;
  std::int64_t start;
  std::int64_t end;
};

// Adds pieces of at most `size` positions.
void add_pieces(std::size_t chromosome, std::int64_t length, std::int64_t size,
                std::vector<Piece>& pieces) {
  for (std::int64_t start = 0; start < length; start += size) {
    pieces.push_back({pieces.size(), chromosome, start, std::min(start + size, length)});
  }
}

// Calls pieces on the devices, each with a thread of its own, or on the CPU's threads.
void run_pieces(const PieceCaller& by, JobControl& control, const std::vector<Piece>& pieces,
                const Task& task) {
  const int threads = by.caller().threads();
  const auto n = static_cast<std::int64_t>(pieces.size());
  if (by.devices() > 0) {
    run_in_lanes(control, threads, static_cast<int>(by.devices()), n, task);
  } else {
    run_tasks(control, threads, n, task);
  }
}

// A chromosome while threads call its pieces.
class ChromosomeCall {
 public:
  // `first` is the index of its first piece. `known_sites` may be null.
  ChromosomeCall(const ChromosomeSequences& chromosome, const std::string& folder,
                 std::size_t first, std::size_t pieces, const KnownSites* known_sites)
      : chromosome_{chromosome.name, chromosome.length},
        open_sources_(chromosome.open),
        files_(folder, chromosome_, pieces, known_sites),
        first_(first),
        left_(pieces) {}

  // Calls a piece; true if it was the last one.
  bool call(const PieceCaller& by, const Piece& piece, const TaskContext& context,
            JobControl& control) {
    std::call_once(opened_, [&] { sources_ = open_sources_(); });
    files_.open(by.caller().with_phred());
    by.call(piece.number, {sources_, chromosome_.length, piece.start, piece.end}, context,
            [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
              files_.write(piece.number - first_, stretch, calls, phred, by.caller().simd());
              control.advance(stretch.end - stretch.start);
            });
    if (--left_ > 0) return false;
    for (const auto& source : sources_) source->check_unchanged();
    sources_.clear();
    files_.close();
    control.log("Called " + chromosome_.name);
    return true;
  }

  CalledChromosome finish(const TaskContext& context) { return files_.finish(context); }

 private:
  const Chromosome chromosome_;
  const std::function<SequenceSources()>& open_sources_;
  CallFiles files_;
  const std::size_t first_;
  std::once_flag opened_;
  SequenceSources sources_;
  std::atomic<std::size_t> left_;  // remaining pieces
};

// Finishes each chromosome once the next one has been called: by then the disk has had time to
// write its files.
class Finisher {
 public:
  Finisher(std::deque<ChromosomeCall>& calls, const ChromosomeCalled& told)
      : calls_(calls), told_(told), counts_(calls.size()) {}

  void add(std::size_t chromosome, const TaskContext& context) {
    std::optional<std::size_t> next = chromosome;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      std::swap(next, waiting_);
    }
    if (next) finish(*next, context);
  }
  void finish_last(const TaskContext& context) {
    if (waiting_) finish(*waiting_, context);
  }
  std::vector<CallCounts> take_counts() { return std::move(counts_); }

 private:
  void finish(std::size_t chromosome, const TaskContext& context) {
    const CalledChromosome called = calls_[chromosome].finish(context);
    counts_[chromosome] = called.counts;
    if (told_) told_(chromosome, called);
  }

  std::deque<ChromosomeCall>& calls_;
  const ChromosomeCalled& told_;
  std::mutex mutex_;
  std::optional<std::size_t> waiting_;
  std::vector<CallCounts> counts_;
};

std::int64_t longest_of(const std::vector<ChromosomeSequences>& chromosomes) {
  std::int64_t longest = 0;
  for (const auto& chromosome : chromosomes) longest = std::max(longest, chromosome.length);
  return longest;
}

// Runs Caller::posteriors() in parts on idle threads, because a device's stretch is a whole tile.
void share_posteriors(const Caller& caller, const Stretch& stretch, double* out, std::size_t pitch,
                      const TaskContext& context) {
  constexpr std::size_t most = Caller::stretch();
  const std::size_t bytes = stretch.form == SequenceForm::kPacked ? most / 2 : most;
  const auto parts = static_cast<std::int64_t>((stretch.size() + most - 1) / most);
  context.share(parts, [&](std::int64_t k) {
    context.throw_if_stopped();
    const auto before = k * static_cast<std::int64_t>(most);
    std::vector<const char*> rows(static_cast<std::size_t>(caller.species()));
    for (std::size_t s = 0; s < rows.size(); ++s) {
      rows[s] = stretch.species[s] + static_cast<std::size_t>(k) * bytes;
    }
    const std::int64_t start = stretch.start + before;
    const std::int64_t end = std::min(start + static_cast<std::int64_t>(most), stretch.end);
    caller.posteriors(
        {stretch.chromosome_length, start, end, stretch.first + before, rows.data(), stretch.form},
        out + before, pitch);
  });
}

}  // namespace

void call_sequences(const Caller& caller, const SequenceSources& species, std::size_t n,
                    char* calls, double* posteriors, JobControl& control) {
  const auto length = static_cast<std::int64_t>(n);
  control.expect(length);
  const DeviceCallers devices = caller.device_callers(length);
  const PieceCaller by(caller, devices);
  std::vector<Piece> pieces;
  add_pieces(0, length, by.piece(length, true), pieces);
  run_pieces(by, control, pieces, [&](std::int64_t i, const TaskContext& context) {
    const auto& [number, chromosome, start, end] = pieces[i];
    by.call(number, {species, length, start, end}, context,
            [&](const Stretch& stretch, const char* some, const std::uint8_t*) {
              std::memcpy(calls + stretch.start, some, stretch.size());
              if (posteriors != nullptr) {
                share_posteriors(caller, stretch, posteriors + stretch.start, n, context);
              }
              control.advance(stretch.end - stretch.start);
            });
  });
}

std::vector<CallCounts> call_chromosomes(const Caller& caller,
                                         const std::vector<ChromosomeSequences>& chromosomes,
                                         const std::string& folder, JobControl& control,
                                         const ChromosomeCalled& called) {
  const DeviceCallers devices = caller.device_callers(longest_of(chromosomes));
  for (const auto& chromosome : chromosomes) {
    chromosome.open();
    control.expect(chromosome.length);
  }
  const PieceCaller by(caller, devices);
  const OutputFolder outer(folder);
  const OutputFolder inner(caller.with_phred() ? posterior_folder(folder) : folder);
  const std::int64_t piece = by.piece(longest_of(chromosomes), false);
  std::vector<Piece> pieces;
  std::deque<ChromosomeCall> calls;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    const std::size_t before = pieces.size();
    add_pieces(i, chromosomes[i].length, piece, pieces);
    calls.emplace_back(chromosomes[i], folder, before, pieces.size() - before,
                       caller.known_sites());
  }
  Finisher finisher(calls, called);
  run_pieces(by, control, pieces, [&](std::int64_t i, const TaskContext& context) {
    const std::size_t chromosome = pieces[i].chromosome;
    if (calls[chromosome].call(by, pieces[i], context, control)) {
      finisher.add(chromosome, context);
    }
  });
  run_tasks(control, 1, 1,
            [&](std::int64_t, const TaskContext& context) { finisher.finish_last(context); });
  return finisher.take_counts();
}

}  // namespace ancify
