// Calls pieces, and keeps the counts and checksums of each, from whatever thread.
#include "core/ancestry/calling/piece_calling.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/exec/errors.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_store.h"
#include "core/genome/stretch.h"
#include "core/io/file.h"

namespace ancify {

namespace {

constexpr std::int64_t kStretchesPerPiece = 4;

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::string phred_path(const std::string& folder, const std::string& chromosome) {
  return path_of_name(posterior_folder(folder), chromosome, ".phred");
}

}  // namespace

std::int64_t PieceCaller::piece(std::int64_t longest, bool only_one) const {
  if (devices_.empty()) return kStretchesPerPiece * static_cast<std::int64_t>(Caller::stretch());
  constexpr auto group = static_cast<std::int64_t>(kPackedGroup);
  const auto groups = (longest + group - 1) / group;
  const auto n = only_one ? static_cast<std::int64_t>(devices_.size()) : 1;
  return (groups + n - 1) / n * group;
}

void PieceCaller::call(std::size_t number, const CallInput& piece, const TaskContext& context,
                       const DeviceCaller::Take& take) const {
  if (devices_.empty()) {
    call_on_cpu(piece, context, take);
  } else {
    devices_[device_of(number, devices_.size())]->call(piece, context, take);
  }
}

void PieceCaller::call_on_cpu(const CallInput& piece, const TaskContext& context,
                              const DeviceCaller::Take& take) const {
  const auto most = std::min(static_cast<std::int64_t>(Caller::stretch()), piece.end - piece.start);
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

std::string posterior_folder(const std::string& folder) { return folder + "/posterior"; }

CallFiles::CallFiles(const std::string& folder, const Chromosome& chromosome, std::size_t pieces,
                     const KnownSites* known_sites)
    : folder_(folder),
      chromosome_(chromosome),
      known_sites_(known_sites),
      was_there_(exists(sequence_path(folder, chromosome.name))),
      sums_(pieces) {
  if (known_sites_ != nullptr) known_sites_->check(chromosome_);
}

std::vector<OutputFile*> CallFiles::files() {
  std::vector<OutputFile*> files = {&calls_->file()};
  if (phred_ != nullptr) files.push_back(phred_.get());
  return files;
}

void CallFiles::open(bool with_phred) {
  const auto& [name, length] = chromosome_;
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(is_open_, true)) return;
  if (calls_ != nullptr) {
    for (OutputFile* file : files()) file->open();
    return;
  }
  calls_ = std::make_unique<SequenceWriter>(sequence_path(folder_, name), name, length);
  if (with_phred) phred_ = std::make_unique<OutputFile>(phred_path(folder_, name), length);
}

void CallFiles::close() {
  is_open_ = false;
  for (OutputFile* file : files()) {
    file->begin_sync();
    file->close();
  }
}

void CallFiles::write(std::size_t piece, const Stretch& stretch, const char* calls,
                      const std::uint8_t* phred, SimdLevel simd) {
  if (known_sites_ == nullptr || !known_sites_->any_in(chromosome_.name, stretch)) {
    write_calls(piece, stretch, calls, phred, simd);
    return;
  }
  std::vector<char> anew(calls, calls + stretch.size());
  std::vector<std::uint8_t> errors;
  if (phred_ != nullptr) errors.assign(phred, phred + stretch.size());
  known_sites_->call(chromosome_.name, stretch, anew.data(),
                     phred_ != nullptr ? errors.data() : nullptr);
  write_calls(piece, stretch, anew.data(), errors.data(), simd);
}

void CallFiles::write_calls(std::size_t piece, const Stretch& stretch, const char* calls,
                            const std::uint8_t* phred, SimdLevel simd) {
  const std::size_t n = stretch.size();
  PieceSums& sums = sums_[piece];
  calls_->write(calls, n, stretch.start);
  sums.calls = extend_checksum(sums.calls, calls, n);
  if (phred_ != nullptr) {
    const char* const bytes = reinterpret_cast<const char*>(phred);
    phred_->write_at(bytes, n, stretch.start);
    sums.phred = extend_checksum(sums.phred, bytes, n);
  }
  sums.counts += count_calls(calls, n, simd);
  sums.length += static_cast<std::int64_t>(n);
}

CalledChromosome CallFiles::finish(const TaskContext& context) {
  const std::string path = sequence_path(folder_, chromosome_.name);
  if (!was_there_ && exists(path)) {
    throw FileError(path,
                    "a file of this name has come since the run began, and no run wrote it. "
                    "Move it away");
  }
  for (OutputFile* file : files()) {
    file->sync(context);
    file->prepare();
  }
  // Even after a crash, no older run's posteriors may accompany these calls.
  if (phred_ != nullptr) remove_file(phred_path(folder_, chromosome_.name));
  for (OutputFile* file : files()) file->commit();
  return called();
}

CalledChromosome CallFiles::called() const {
  CalledChromosome called;
  std::uint32_t calls = 0;
  for (const PieceSums& sums : sums_) {
    called.counts += sums.counts;
    calls = join_checksums(calls, sums.calls, sums.length);
    called.phred.checksum = join_checksums(called.phred.checksum, sums.phred, sums.length);
  }
  called.calls = calls_->checksum(calls);
  called.calls.identity = calls_->file().identity();
  if (phred_ != nullptr) {
    called.phred.size = chromosome_.length;
    called.phred.identity = phred_->identity();
  }
  return called;
}

}  // namespace ancify
