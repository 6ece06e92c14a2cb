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

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/call_table.h"
#include "cuda/voting.h"
#endif

namespace ancify {

Caller::Caller(const Voting& voting, const Backend& backend)
    : Caller(std::make_unique<VotingMethod>(voting), backend) {}

Caller::Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred)
    : method_(std::move(method)), backend_(backend), with_phred_(with_phred) {
  if (method_->species() <= kMostTabulated) {
    table_.emplace(*method_, with_phred);
    return;
  }
  if (backend.kind == BackendKind::kGpu) {
    const auto* voting = dynamic_cast<const VotingMethod*>(method_.get());
    if (voting != nullptr) voting_on_gpu_ = &voting->voting();
  }
  if (voting_on_gpu_ == nullptr) memo_ = std::make_unique<PatternMemo>(*method_);
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
#ifdef ANCIFY_HAVE_CUDA
  if (backend_.kind == BackendKind::kGpu && !memo_) {
    if (sites.form == SequenceForm::kPacked) {
      throw DeviceError("the GPU calls no packed sequences yet");
    }
    const int device = backend_.devices.front();
    if (table_) {
      cuda::apply_table(device, species(), *table_, sites.species, sites.n, calls, phred);
      return;
    }
    cuda::call_by_vote(device, *voting_on_gpu_, sites.species, sites.n, calls);
    if (phred != nullptr) std::fill_n(phred, sites.n, kNoPhred);
    return;
  }
#endif
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

std::size_t Caller::stretch() const {
  return backend_.kind == BackendKind::kGpu ? std::size_t{1} << 24 : std::size_t{1} << 17;
}

namespace {

// A stretch of a chromosome that one task calls, small enough to share among threads.
struct Piece {
  std::size_t chromosome;
  std::int64_t start;
  std::int64_t end;
};

constexpr std::int64_t kStretchesPerPiece = 4;

void add_pieces(const Caller& caller, std::size_t chromosome, std::int64_t length,
                std::vector<Piece>& pieces) {
  const std::int64_t size = kStretchesPerPiece * static_cast<std::int64_t>(caller.stretch());
  for (std::int64_t start = 0; start < length; start += size) {
    pieces.push_back({chromosome, start, std::min(start + size, length)});
  }
}

// Calls a piece of a chromosome stretch by stretch; write(stretch, calls, phred) takes each.
template <class Write>
void call_piece(const Caller& caller, const SequenceSources& species, std::int64_t length,
                const Piece& piece, const TaskContext& context, Write write) {
  const auto most = std::min(static_cast<std::int64_t>(caller.stretch()), piece.end - piece.start);
  StretchReader reader(species, length, caller.reach());
  std::vector<char> calls(static_cast<std::size_t>(most));
  std::vector<std::uint8_t> phred(caller.with_phred() ? calls.size() : 0);
  for (std::int64_t start = piece.start; start < piece.end; start += most) {
    context.throw_if_stopped();
    const Stretch stretch = reader.read(start, std::min(start + most, piece.end));
    caller.call(stretch, calls.data(), caller.with_phred() ? phred.data() : nullptr);
    write(stretch, calls.data(), phred.data());
  }
}

std::string posterior_folder(const std::string& folder) { return folder + "/posterior"; }

// A chromosome while its pieces are called, which may be on several threads.
class ChromosomeCall {
 public:
  ChromosomeCall(const ChromosomeToCall& chromosome, const std::string& folder, int pieces)
      : chromosome_(chromosome), folder_(folder), left_(pieces) {}

  void call(const Caller& caller, const Piece& piece, const TaskContext& context,
            JobControl& control) {
    std::call_once(opened_, [&] { open(caller.with_phred()); });
    CallCounts counts;
    call_piece(caller, sources_, chromosome_.length, piece, context,
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
  std::vector<Piece> pieces;
  add_pieces(caller, 0, length, pieces);
  run_tasks(control, caller.threads(), static_cast<std::int64_t>(pieces.size()),
            [&](std::int64_t i, const TaskContext& context) {
              call_piece(caller, species, length, pieces[i], context,
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
  const OutputFolder outer(folder);
  const OutputFolder inner(caller.with_phred() ? posterior_folder(folder) : folder);
  std::vector<Piece> pieces;
  std::deque<ChromosomeCall> calls;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    chromosomes[i].open();
    control.expect(chromosomes[i].length);
    const std::size_t before = pieces.size();
    add_pieces(caller, i, chromosomes[i].length, pieces);
    calls.emplace_back(chromosomes[i], folder, static_cast<int>(pieces.size() - before));
  }
  run_tasks(control, caller.threads(), static_cast<std::int64_t>(pieces.size()),
            [&](std::int64_t i, const TaskContext& context) {
              calls[pieces[i].chromosome].call(caller, pieces[i], context, control);
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
