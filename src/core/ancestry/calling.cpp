#include "core/ancestry/calling.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/file.h"
#include "core/io/packed.h"
#include "core/io/sequence_store.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/voting.h"
#endif

namespace ancify {

Caller::Caller(const Voting& voting, const Backend& backend) : voting_(voting), backend_(backend) {
  if (voting.n_inner < 1 || voting.n_outer < 1) {
    throw InputError("voting needs at least one inner and one outer outgroup");
  }
  if (voting.min_inner < 1 || voting.min_outer < 1) {
    throw InputError("the fewest votes of a tier must be at least 1");
  }
  if (backend.kind == BackendKind::kCpu && voting.species() <= kMostTabulated) {
    table_.emplace(voting.species(), [&](auto code) { return call_by_vote(voting, code); });
  }
}

void Caller::call(const char* const* species, SequenceForm form, std::size_t n, char* calls) const {
#ifdef ANCIFY_HAVE_CUDA
  if (backend_.kind == BackendKind::kGpu) {
    if (form == SequenceForm::kPacked) throw DeviceError("the GPU calls no packed sequences yet");
    cuda::call_by_vote(backend_.devices.front(), voting_, species, n, calls);
    return;
  }
#endif
  if (table_) {
    table_->apply(species, form, n, calls, backend_.simd);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    calls[i] = call_by_vote(voting_, [&](int s) -> int {
      return form == SequenceForm::kPacked ? packed_code(species[s], i) : base_code(species[s][i]);
    });
  }
}

std::size_t Caller::stretch() const {
  return backend_.kind == BackendKind::kGpu ? std::size_t{1} << 24 : std::size_t{1} << 17;
}

namespace {

class FileSource : public SequenceSource {
 public:
  FileSource(const std::string& path, const std::string& name, std::int64_t length)
      : reader_(path, name, length) {}
  SequenceForm form() const override { return SequenceForm::kCharacters; }
  const char* bases(std::int64_t start, std::size_t n, char* buffer) const override {
    reader_.read(start, n, buffer);
    return buffer;
  }

 private:
  SequenceReader reader_;
};

class MemorySource : public SequenceSource {
 public:
  MemorySource(const char* bases, SequenceForm form) : bases_(bases), form_(form) {}
  SequenceForm form() const override { return form_; }
  const char* bases(std::int64_t start, std::size_t, char*) const override {
    return bases_ + (form_ == SequenceForm::kPacked ? start / 2 : start);
  }

 private:
  const char* bases_;
  SequenceForm form_;
};

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

// Calls a piece stretch by stretch; write(calls, n, start) takes each.
template <class Write>
void call_piece(const Caller& caller, const SequenceSources& species, const Piece& piece,
                const TaskContext& context, Write write) {
  const std::size_t stretch = std::min<std::size_t>(caller.stretch(), piece.end - piece.start);
  std::vector<char> buffer((species.size() + 1) * stretch);
  std::vector<const char*> bases(species.size());
  char* const calls = &buffer[species.size() * stretch];
  for (std::int64_t start = piece.start; start < piece.end;) {
    context.throw_if_stopped();
    const auto n = std::min<std::size_t>(stretch, piece.end - start);
    for (std::size_t s = 0; s < species.size(); ++s) {
      bases[s] = species[s]->bases(start, n, &buffer[s * stretch]);
    }
    caller.call(bases.data(), species.front()->form(), n, calls);
    write(calls, n, start);
    start += static_cast<std::int64_t>(n);
  }
}

// A chromosome while its pieces are called, which may be on several threads.
class ChromosomeCall {
 public:
  ChromosomeCall(const ChromosomeToCall& chromosome, const std::string& folder, int pieces)
      : chromosome_(chromosome), folder_(folder), left_(pieces) {}

  void call(const Caller& caller, const Piece& piece, const TaskContext& context,
            JobControl& control) {
    std::call_once(opened_, [&] { open(); });
    CallCounts counts;
    call_piece(caller, sources_, piece, context,
               [&](const char* calls, std::size_t n, std::int64_t start) {
                 output_->write(calls, n, start);
                 counts += count_calls(calls, n, caller.simd());
                 control.advance(static_cast<std::int64_t>(n));
               });
    std::lock_guard<std::mutex> lock(mutex_);
    counts_ += counts;
    if (--left_ == 0) {
      sources_.clear();
      output_->file().begin_sync();
      output_->file().close();
      control.log("Called " + chromosome_.name);
    }
  }

  SequenceWriter& output() { return *output_; }
  const CallCounts& counts() const { return counts_; }

 private:
  void open() {
    sources_ = chromosome_.open();
    output_ = std::make_unique<SequenceWriter>(sequence_path(folder_, chromosome_.name),
                                               chromosome_.name, chromosome_.length);
  }

  const ChromosomeToCall& chromosome_;
  const std::string& folder_;
  std::once_flag opened_;
  SequenceSources sources_;
  std::unique_ptr<SequenceWriter> output_;
  std::mutex mutex_;
  int left_;
  CallCounts counts_;
};

}  // namespace

std::unique_ptr<SequenceSource> file_source(const std::string& path, const std::string& name,
                                            std::int64_t length) {
  return std::make_unique<FileSource>(path, name, length);
}

std::unique_ptr<SequenceSource> memory_source(const char* bases, SequenceForm form) {
  return std::make_unique<MemorySource>(bases, form);
}

void call_sequences(const Caller& caller, const SequenceSources& species, std::size_t n,
                    char* calls, JobControl& control) {
  control.expect(static_cast<std::int64_t>(n));
  std::vector<Piece> pieces;
  add_pieces(caller, 0, static_cast<std::int64_t>(n), pieces);
  run_tasks(control, caller.threads(), static_cast<std::int64_t>(pieces.size()),
            [&](std::int64_t i, const TaskContext& context) {
              call_piece(caller, species, pieces[i], context,
                         [&](const char* some, std::size_t size, std::int64_t start) {
                           std::memcpy(calls + start, some, size);
                           control.advance(static_cast<std::int64_t>(size));
                         });
            });
}

std::vector<CallCounts> call_chromosomes(const Caller& caller,
                                         const std::vector<ChromosomeToCall>& chromosomes,
                                         const std::string& folder, JobControl& control) {
  std::vector<Piece> pieces;
  std::deque<ChromosomeCall> calls;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    chromosomes[i].open();
    control.expect(chromosomes[i].length);
    const std::size_t before = pieces.size();
    add_pieces(caller, i, chromosomes[i].length, pieces);
    calls.emplace_back(chromosomes[i], folder, static_cast<int>(pieces.size() - before));
  }
  make_folder(folder);
  run_tasks(control, caller.threads(), static_cast<std::int64_t>(pieces.size()),
            [&](std::int64_t i, const TaskContext& context) {
              calls[pieces[i].chromosome].call(caller, pieces[i], context, control);
            });
  // The disk has been busy with the first files all the while; now wait until it has the last.
  run_tasks(control, caller.threads(), static_cast<std::int64_t>(calls.size()),
            [&](std::int64_t i, const TaskContext& context) {
              calls[i].output().file().sync(context);
              calls[i].output().file().prepare();
            });
  std::vector<CallCounts> counts;
  for (auto& call : calls) {
    call.output().file().commit();
    counts.push_back(call.counts());
  }
  return counts;
}

}  // namespace ancify
