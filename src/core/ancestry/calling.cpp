#include "core/ancestry/calling.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "core/ancestry/site_posteriors.h"
#include "core/ancestry/stretch_reader.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/file.h"
#include "core/io/sequence_store.h"

namespace ancify {

namespace {

// What it votes by, or null if it is another method.
const Voting* voting_of(const Method& method) {
  const auto* const by_vote = dynamic_cast<const VotingMethod*>(&method);
  return by_vote == nullptr ? nullptr : &by_vote->voting();
}

}  // namespace

Caller::Caller(const Voting& voting, const Backend& backend)
    : Caller(std::make_unique<VotingMethod>(voting), backend) {}

Caller::Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred)
    : Caller(std::move(method), backend, with_phred, open_call_devices(backend)) {}

Caller::Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred,
               CallDevices devices)
    : method_(std::move(method)), backend_(backend), with_phred_(with_phred) {
  const bool tabulated = method_->species() <= kMostTabulated;
  if (tabulated) {
    table_.emplace(*method_, with_phred);
  } else {
    memo_ = std::make_unique<PatternMemo>(*method_);
  }
  if (tabulated || voting_of(*method_) != nullptr) devices_ = std::move(devices);
}

Caller::Caller(std::unique_ptr<const MlCaller> ml, const Backend& backend, bool with_phred)
    : ml_(std::move(ml)), backend_(backend), with_phred_(with_phred) {
  if (backend.kind == BackendKind::kGpu) {
    throw DeviceError("the method \"ml\" does not run on a GPU yet: use the CPU");
  }
}

void Caller::call(const Stretch& stretch, char* calls, std::uint8_t* phred) const {
  if (ml_) {
    ml_->call(stretch, backend_.simd, calls, phred);
    return;
  }
  const Sites sites = {stretch.species, stretch.form, stretch.size()};
  if (table_) {
    table_->apply(sites, calls, phred, backend_.simd);
  } else {
    memo_->apply(sites, calls, phred, backend_.simd);
  }
}

void Caller::posteriors(const Stretch& stretch, double* out, std::size_t pitch) const {
  if (ml_) {
    ml_->posteriors(stretch, backend_.simd, out, pitch);
  } else {
    const Sites sites = {stretch.species, stretch.form, stretch.size()};
    site_posteriors(*method_, sites, backend_.simd, out, pitch);
  }
}

std::vector<std::unique_ptr<DeviceCaller>> Caller::device_callers(std::int64_t longest) const {
  std::vector<std::unique_ptr<DeviceCaller>> callers;
  for (const auto& device : devices_) {
    const Voting* const voting = voting_of(*method_);
    const DeviceMethod method = {species(), table_ ? &*table_ : nullptr,
                                 voting != nullptr ? *voting : Voting(), with_phred_};
    callers.push_back(
        std::make_unique<DeviceCaller>(*device, method, longest, backend_.gpu_memory));
  }
  return callers;
}

namespace {

// A stretch of a chromosome that one task calls, small enough to share among threads.
struct Piece {
  std::size_t number;  // of all pieces
  std::size_t chromosome;
  std::int64_t start;
  std::int64_t end;
};

constexpr std::int64_t kStretchesPerPiece = 4;

// A device takes a chromosome as a whole.
void add_pieces(bool on_devices, std::size_t chromosome, std::int64_t length,
                std::vector<Piece>& pieces) {
  const std::int64_t size =
      on_devices ? length : kStretchesPerPiece * static_cast<std::int64_t>(Caller::stretch());
  for (std::int64_t start = 0; start < length; start += size) {
    pieces.push_back({pieces.size(), chromosome, start, std::min(start + size, length)});
  }
}

// Calls pieces of chromosomes stretch by stretch: on devices, chromosomes in turn on each, or on
// the CPU's threads.
class PieceCaller {
 public:
  PieceCaller(const Caller& caller, std::int64_t longest)
      : caller_(caller), devices_(caller.device_callers(longest)) {}

  bool on_devices() const { return !devices_.empty(); }

  void run(JobControl& control, const std::vector<Piece>& pieces, const Task& task) const {
    const auto n = static_cast<std::int64_t>(pieces.size());
    if (on_devices()) {
      run_in_lanes(control, static_cast<int>(devices_.size()), n, task);
    } else {
      run_tasks(control, caller_.threads(), n, task);
    }
  }

  // take(stretch, calls, phred) gets the stretches of a piece of a chromosome of this length.
  void call(const SequenceSources& species, std::int64_t length, const Piece& piece,
            const TaskContext& context, const DeviceCaller::Take& take) const {
    if (on_devices()) {
      devices_[piece.number % devices_.size()]->call(species, length, context, take);
    } else {
      call_on_cpu(species, length, piece, context, take);
    }
  }

 private:
  void call_on_cpu(const SequenceSources& species, std::int64_t length, const Piece& piece,
                   const TaskContext& context, const DeviceCaller::Take& take) const {
    const auto most =
        std::min(static_cast<std::int64_t>(Caller::stretch()), piece.end - piece.start);
    StretchReader reader(species, length, caller_.reach());
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
  std::vector<std::unique_ptr<DeviceCaller>> devices_;
};

std::string posterior_folder(const std::string& folder) { return folder + "/posterior"; }

// A chromosome while its pieces are called, which may be on several threads.
class ChromosomeCall {
 public:
  ChromosomeCall(const ChromosomeToCall& chromosome, const std::string& folder, int pieces)
      : chromosome_(chromosome), folder_(folder), left_(pieces) {}

  void call(const Caller& caller, const PieceCaller& by, const Piece& piece,
            const TaskContext& context, JobControl& control) {
    std::call_once(opened_, [&] { open(caller.with_phred()); });
    CallCounts counts;
    by.call(sources_, chromosome_.length, piece, context,
            [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
              write(stretch, calls, phred);
              counts += count_calls(calls, stretch.size(), caller.simd());
              control.advance(stretch.end - stretch.start);
            });
    std::lock_guard<std::mutex> lock(mutex_);
    counts_ += counts;
    if (--left_ == 0) {
      sources_.clear();
      for (OutputFile* file : files()) {
        file->begin_sync();
        file->close();
      }
      control.log("Called " + chromosome_.name);
    }
  }

  std::vector<OutputFile*> files() {
    std::vector<OutputFile*> files = {&calls_->file()};
    if (phred_) files.push_back(phred_.get());
    return files;
  }
  const CallCounts& counts() const { return counts_; }

 private:
  void open(bool with_phred) {
    const auto& [name, length, open_sources] = chromosome_;
    sources_ = open_sources();
    calls_ = std::make_unique<SequenceWriter>(sequence_path(folder_, name), name, length);
    if (with_phred) {
      phred_ =
          std::make_unique<OutputFile>(posterior_folder(folder_) + "/" + name + ".phred", length);
    }
  }

  void write(const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
    calls_->write(calls, stretch.size(), stretch.start);
    if (phred_) {
      phred_->write_at(reinterpret_cast<const char*>(phred), stretch.size(), stretch.start);
    }
  }

  const ChromosomeToCall& chromosome_;
  const std::string& folder_;
  std::once_flag opened_;
  SequenceSources sources_;
  std::unique_ptr<SequenceWriter> calls_;
  std::unique_ptr<OutputFile> phred_;  // null where it is not wanted
  std::mutex mutex_;
  int left_;
  CallCounts counts_;
};

}  // namespace

void call_sequences(const Caller& caller, const SequenceSources& species, std::size_t n,
                    char* calls, double* posteriors, JobControl& control) {
  const auto length = static_cast<std::int64_t>(n);
  control.expect(length);
  const PieceCaller by(caller, length);
  std::vector<Piece> pieces;
  add_pieces(by.on_devices(), 0, length, pieces);
  by.run(control, pieces, [&](std::int64_t i, const TaskContext& context) {
    by.call(species, length, pieces[i], context,
            [&](const Stretch& stretch, const char* some, const std::uint8_t*) {
              std::memcpy(calls + stretch.start, some, stretch.size());
              if (posteriors != nullptr) {
                caller.posteriors(stretch, posteriors + stretch.start, n);
              }
              control.advance(stretch.end - stretch.start);
            });
  });
}

std::vector<CallCounts> call_chromosomes(const Caller& caller,
                                         const std::vector<ChromosomeToCall>& chromosomes,
                                         const std::string& folder, JobControl& control) {
  std::int64_t longest = 0;
  for (const auto& chromosome : chromosomes) {
    chromosome.open();
    control.expect(chromosome.length);
    longest = std::max(longest, chromosome.length);
  }
  const PieceCaller by(caller, longest);
  const OutputFolder outer(folder);
  const OutputFolder inner(caller.with_phred() ? posterior_folder(folder) : folder);
  std::vector<Piece> pieces;
  std::deque<ChromosomeCall> calls;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    const std::size_t before = pieces.size();
    add_pieces(by.on_devices(), i, chromosomes[i].length, pieces);
    calls.emplace_back(chromosomes[i], folder, static_cast<int>(pieces.size() - before));
  }
  by.run(control, pieces, [&](std::int64_t i, const TaskContext& context) {
    calls[pieces[i].chromosome].call(caller, by, pieces[i], context, control);
  });
  // The disk has been busy with the first files all the while; now wait until it has the last.
  run_tasks(control, caller.threads(), static_cast<std::int64_t>(calls.size()),
            [&](std::int64_t i, const TaskContext& context) {
              for (OutputFile* file : calls[i].files()) {
                file->sync(context);
                file->prepare();
              }
            });
  std::vector<CallCounts> counts;
  for (auto& call : calls) {
    for (OutputFile* file : call.files()) file->commit();
    counts.push_back(call.counts());
  }
  return counts;
}

}  // namespace ancify
