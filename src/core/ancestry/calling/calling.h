// A base and its confidence for every position, from the outgroups' projected sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/calling/call_counts.h"
#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/stretch_caller.h"
#include "core/ancestry/patterns/method.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"
#include "core/genome/chromosome_sequences.h"
#include "core/genome/sequence_source.h"
#include "core/genome/stretch.h"
#include "core/io/checksum.h"

namespace ancify {

// A method on a backend: on its devices where they can, else on the CPU's threads.
class Caller {
 public:
  // `with_phred`: call() is to give error_phred() too. DeviceError where a device fails, or cannot
  // hold the method.
  Caller(std::unique_ptr<const StretchCaller> method, const Backend& backend,
         bool with_phred = false);
  // On these devices, which are the backend's.
  Caller(std::unique_ptr<const StretchCaller> method, const Backend& backend, bool with_phred,
         CallDevices devices);
  // By site patterns.
  Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred = false);
  Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred,
         CallDevices devices);
  int species() const { return method_->species(); }
  bool with_phred() const { return with_phred_; }
  std::int64_t reach() const { return method_->reach(); }
  // On the CPU, as StretchCaller says; `phred` is null where it was not asked for.
  void call(const Stretch& stretch, char* calls, std::uint8_t* phred = nullptr) const {
    method_->call(stretch, backend_.simd, calls, phred);
  }
  void posteriors(const Stretch& stretch, double* out, std::size_t pitch) const {
    method_->posteriors(stretch, backend_.simd, out, pitch);
  }
  // Positions that call() does best with at once, a multiple of kPackedGroup.
  static constexpr std::size_t stretch() { return std::size_t{1} << 17; }
  // What calls sequences of at most so many positions on each device; empty on the CPU.
  DeviceCallers device_callers(std::int64_t longest) const;
  // Threads on which call() at once makes sense.
  int threads() const { return backend_.threads; }
  SimdLevel simd() const { return backend_.simd; }

 private:
  std::unique_ptr<const StretchCaller> method_;
  Backend backend_;
  bool with_phred_;
  CallDevices devices_;
  std::optional<DeviceMethod> on_devices_;  // none where calls are made on the CPU
};

// Calls sequences of n positions in memory, into `calls`; and, where it is not null, gives the
// posteriors as Caller::posteriors() does, n apart.
void call_sequences(const Caller& caller, const SequenceSources& species, std::size_t n,
                    char* calls, double* posteriors, JobControl& control);

// A chromosome whose files are whole, on the disk and in their places.
struct CalledChromosome {
  CallCounts counts;
  FileChecksum calls;
  FileChecksum phred;  // all 0 where there is none
};

// Told of each, on any thread.
using ChromosomeCalled = std::function<void(std::size_t chromosome, const CalledChromosome&)>;

// Calls chromosomes into <folder>/<chromosome>.fa, and where the caller is with_phred() writes
// <folder>/posterior/<chromosome>.phred: nothing but error_phred() of each position, a byte. All
// inputs are looked at before the first is called. The files of a chromosome appear together, soon
// after it is called, and an older .phred goes before.
std::vector<CallCounts> call_chromosomes(const Caller& caller,
                                         const std::vector<ChromosomeSequences>& chromosomes,
                                         const std::string& folder, JobControl& control,
                                         const ChromosomeCalled& called = {});
// On devices by what caller.device_callers() has given, for chromosomes that may be on them.
std::vector<CallCounts> call_chromosomes(const Caller& caller, const DeviceCallers& devices,
                                         const std::vector<ChromosomeSequences>& chromosomes,
                                         const std::string& folder, JobControl& control,
                                         const ChromosomeCalled& called = {});

}  // namespace ancify
