// Calls parts of chromosomes on the CPU or on devices, and writes the calls into files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/device_calling.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_file.h"

namespace ancify {

// Calls pieces of chromosomes stretch by stretch: on the devices in turn, or on the CPU.
class PieceCaller {
 public:
  // Both must outlive this.
  PieceCaller(const Caller& caller, const DeviceCallers& devices)
      : caller_(caller), devices_(devices) {}

  const Caller& caller() const { return caller_; }
  // 0 if calls are made on the CPU.
  std::size_t devices() const { return devices_.size(); }
  // The size of the pieces of `longest` positions. A device takes all or, if nothing else is left
  // to call, its share. For threads, pieces are small enough to keep all of them busy.
  std::int64_t piece(std::int64_t longest, bool only_one) const;
  // Calls the piece of this index, and passes its stretches to take(stretch, calls, phred). Pieces
  // of one device must come from one thread at a time.
  void call(std::size_t number, const CallInput& piece, const TaskContext& context,
            const DeviceCaller::Take& take) const;

 private:
  void call_on_cpu(const CallInput& piece, const TaskContext& context,
                   const DeviceCaller::Take& take) const;

  const Caller& caller_;
  const DeviceCallers& devices_;
};

std::string posterior_folder(const std::string& folder);

// The files of a chromosome's calls. finish() gives them their final names together.
class CallFiles {
 public:
  // `pieces` is the number of pieces in which calls are written. `known_sites` may be null; it and
  // `chromosome` must outlive this. Throws like KnownSites::check().
  CallFiles(const std::string& folder, const Chromosome& chromosome, std::size_t pieces,
            const KnownSites* known_sites);

  // Call it before each piece, on its thread.
  void open(bool with_phred);
  // Starts to sync written data. The number of open files is limited, so close waiting files.
  void close();
  // A piece is begun, for the first time or again, and then written stretch by stretch. Several
  // pieces may be written at once.
  void begin_piece(std::size_t piece) { sums_[piece] = {}; }
  // Known variable sites are called anew.
  void write(std::size_t piece, const Stretch& stretch, const char* calls,
             const std::uint8_t* phred, SimdLevel simd);
  // Waits until the closed files are on the disk, and gives them their final names. Throws
  // FileError if a file of this name has appeared since construction.
  CalledChromosome finish(const TaskContext& context);

 private:
  // The contribution of a piece to the chromosome's sums.
  struct PieceSums {
    std::int64_t length = 0;
    CallCounts counts;
    std::uint32_t calls = 0;  // checksums
    std::uint32_t phred = 0;
  };

  void write_calls(std::size_t piece, const Stretch& stretch, const char* calls,
                   const std::uint8_t* phred, SimdLevel simd);
  std::vector<OutputFile*> files();
  CalledChromosome called() const;

  const std::string& folder_;
  const Chromosome& chromosome_;
  const KnownSites* known_sites_;
  const bool was_there_;
  std::mutex mutex_;
  bool is_open_ = false;
  std::unique_ptr<SequenceWriter> calls_;
  std::unique_ptr<OutputFile> phred_;  // null if not wanted
  std::vector<PieceSums> sums_;
};

}  // namespace ancify
