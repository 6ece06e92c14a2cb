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
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/sequence_store.h"
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
  std::size_t number;  // among all pieces
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

constexpr std::int64_t kStretchesPerPiece = 4;

// Calls pieces of chromosomes stretch by stretch: on the devices in turn, or on the CPU's threads.
class PieceCaller {
 public:
  PieceCaller(const Caller& caller, const DeviceCallers& devices)
      : caller_(caller), devices_(devices) {}

  // The size of the pieces of chromosomes of at most `longest` positions. A device takes a whole
  // chromosome or, if there is only one, its share. For threads, pieces are small enough to keep
  // all of them busy.
  std::int64_t piece(std::int64_t longest, bool only_one) const {
    if (!on_devices()) return kStretchesPerPiece * static_cast<std::int64_t>(Caller::stretch());
    constexpr auto group = static_cast<std::int64_t>(kPackedGroup);
    const auto groups = (longest + group - 1) / group;
    const auto n = only_one ? static_cast<std::int64_t>(devices_.size()) : 1;
    return (groups + n - 1) / n * group;
  }

  void run(JobControl& control, const std::vector<Piece>& pieces, const Task& task) const {
    const auto n = static_cast<std::int64_t>(pieces.size());
    if (on_devices()) {
      run_in_lanes(control, caller_.threads(), static_cast<int>(devices_.size()), n, task);
    } else {
      run_tasks(control, caller_.threads(), n, task);
    }
  }

  // Calls the piece of this number, and passes its stretches to take(stretch, calls, phred).
  void call(std::size_t number, const CallInput& piece, const TaskContext& context,
            const DeviceCaller::Take& take) const {
    if (on_devices()) {
      devices_[device_of(number, devices_.size())]->call(piece, context, take);
    } else {
      call_on_cpu(piece, context, take);
    }
  }

 private:
  bool on_devices() const { return !devices_.empty(); }

  void call_on_cpu(const CallInput& piece, const TaskContext& context,
                   const DeviceCaller::Take& take) const {
    const auto most =
        std::min(static_cast<std::int64_t>(Caller::stretch()), piece.end - piece.start);
    StretchReader reader(piece.sources, piece.length, caller_.reach());
    std::vector<char> calls(static_cast<std::size_t>(most));
    std::vector<std::uint8_t> phred(caller_.with_phred() ? calls.size() : 0);
    for (std::int64_t start = piece.start; start < piece.end; start += most) {
      context.throw_if_stopped();
      const Stretch stretch = reader.read(start, std::min(start + most, piece.end));
      caller_.call(stretch, calls.data(), caller_.with_phred() ? phred.data() : nullptr);
      take(stretch, calls.data(), phred.data());
    }
  }

  const Caller& caller_;
  const DeviceCallers& devices_;
};

std::string posterior_folder(const std::string& folder) { return folder + "/posterior"; }

std::string phred_path(const std::string& folder, const std::string& chromosome) {
  return posterior_folder(folder) + "/" + chromosome + ".phred";
}

// What a piece adds to a chromosome's sums.
struct PieceSums {
  std::int64_t length = 0;
  CallCounts counts;
  std::uint32_t calls = 0;  // checksums
  std::uint32_t phred = 0;
};

// A chromosome while threads call its pieces.
class ChromosomeCall {
 public:
  // `first`: the number of its first piece.
  ChromosomeCall(const ChromosomeSequences& chromosome, const std::string& folder,
                 std::size_t first, std::size_t pieces)
      : chromosome_(chromosome), folder_(folder), first_(first), sums_(pieces), left_(pieces) {}

  // Calls a piece; true if it was the last one.
  bool call(const Caller& caller, const PieceCaller& by, const Piece& piece,
            const TaskContext& context, JobControl& control) {
    std::call_once(opened_, [&] { open(caller.with_phred()); });
    PieceSums& sums = sums_[piece.number - first_];
    by.call(piece.number,
            {sources_, chromosome_.on_device, chromosome_.length, piece.start, piece.end}, context,
            [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
              write(stretch, calls, phred, sums);
              sums.counts += count_calls(calls, stretch.size(), caller.simd());
              control.advance(stretch.end - stretch.start);
            });
    sums.length = piece.end - piece.start;
    if (--left_ > 0) return false;
    for (const auto& source : sources_) source->check_unchanged();
    sources_.clear();
    for (OutputFile* file : files()) {
      file->begin_sync();
      file->close();
    }
    control.log("Called " + chromosome_.name);
    return true;
  }

  // Puts the files in their places once they are on the disk.
  CalledChromosome finish(const TaskContext& context) {
    for (OutputFile* file : files()) {
      file->sync(context);
      file->prepare();
    }
    // No crash may leave an older run's posteriors beside these calls.
    if (phred_) remove_file(phred_path(folder_, chromosome_.name));
    for (OutputFile* file : files()) file->commit();
    return called();
  }

 private:
  std::vector<OutputFile*> files() {
    std::vector<OutputFile*> files = {&calls_->file()};
    if (phred_) files.push_back(phred_.get());
    return files;
  }

  CalledChromosome called() const {
    CalledChromosome called;
    std::uint32_t calls = 0;
    for (const PieceSums& sums : sums_) {
      called.counts += sums.counts;
      calls = join_checksums(calls, sums.calls, sums.length);
      called.phred.checksum = join_checksums(called.phred.checksum, sums.phred, sums.length);
    }
    called.calls = calls_->checksum(calls);
    called.calls.identity = calls_->file().identity();
    if (phred_) {
      called.phred.size = chromosome_.length;
      called.phred.identity = phred_->identity();
    }
    return called;
  }

  void open(bool with_phred) {
    const auto& [name, length, open_sources, on_device] = chromosome_;
    sources_ = open_sources();
    calls_ = std::make_unique<SequenceWriter>(sequence_path(folder_, name), name, length);
    if (with_phred) {
      phred_ = std::make_unique<OutputFile>(phred_path(folder_, name), length);
    }
  }

  // Writes a stretch; the stretches of a piece come in order.
  void write(const Stretch& stretch, const char* calls, const std::uint8_t* phred,
             PieceSums& sums) {
    calls_->write(calls, stretch.size(), stretch.start);
    sums.calls = extend_checksum(sums.calls, calls, stretch.size());
    if (phred_) {
      const char* const bytes = reinterpret_cast<const char*>(phred);
      phred_->write_at(bytes, stretch.size(), stretch.start);
      sums.phred = extend_checksum(sums.phred, bytes, stretch.size());
    }
  }

  const ChromosomeSequences& chromosome_;
  const std::string& folder_;
  const std::size_t first_;
  std::once_flag opened_;
  SequenceSources sources_;
  std::unique_ptr<SequenceWriter> calls_;
  std::unique_ptr<OutputFile> phred_;  // null if not wanted
  std::vector<PieceSums> sums_;
  std::atomic<std::size_t> left_;  // pieces
};

// Finishes each chromosome when the next one has been called: by then the disk has had time to
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

// Caller::posteriors() in parts on idle threads, because a device's stretch is a whole tile.
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
  by.run(control, pieces, [&](std::int64_t i, const TaskContext& context) {
    const auto& [number, chromosome, start, end] = pieces[i];
    by.call(number, {species, nullptr, length, start, end}, context,
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
  return call_chromosomes(caller, devices, chromosomes, folder, control, called);
}

std::vector<CallCounts> call_chromosomes(const Caller& caller, const DeviceCallers& devices,
                                         const std::vector<ChromosomeSequences>& chromosomes,
                                         const std::string& folder, JobControl& control,
                                         const ChromosomeCalled& called) {
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
    calls.emplace_back(chromosomes[i], folder, before, pieces.size() - before);
  }
  Finisher finisher(calls, called);
  by.run(control, pieces, [&](std::int64_t i, const TaskContext& context) {
    const std::size_t chromosome = pieces[i].chromosome;
    if (calls[chromosome].call(caller, by, pieces[i], context, control)) {
      finisher.add(chromosome, context);
    }
  });
  run_tasks(control, 1, 1,
            [&](std::int64_t, const TaskContext& context) { finisher.finish_last(context); });
  return finisher.take_counts();
}

}  // namespace ancify
