// Calls a base, with its confidence, at every position from the outgroups' projected sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ancestry/calling/call_counts.h"
#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/stretch_caller.h"
#include "core/ancestry/patterns/method.h"
#include "core/ancestry/variants/known_sites.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"
#include "core/genome/chromosome_sequences.h"
#include "core/genome/sequence_source.h"
#include "core/genome/stretch.h"
#include "core/io/checksum.h"

namespace ancify {

// A method on a backend: on its devices if they can apply it, else on the CPU's threads.
class Caller {
 public:
  // With `with_phred`, call() also returns error_phred(). Throws DeviceError if a device fails or
  // cannot hold the method.
  Caller(std::unique_ptr<const StretchCaller> method, const Backend& backend,
         bool with_phred = false);
  // Uses `devices`, which must belong to the backend.
  Caller(std::unique_ptr<const StretchCaller> method, const Backend& backend, bool with_phred,
         CallDevices devices);
  // Takes a method of site patterns.
  Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred = false);
  Caller(std::unique_ptr<const Method> method, const Backend& backend, bool with_phred,
         CallDevices devices);
  int species() const { return method_->species(); }
  bool with_phred() const { return with_phred_; }
  // Positions on each side that a call depends on.
  std::int64_t reach() const { return method_->reach(); }
  // Runs on the CPU, like StretchCaller. `phred` must be null unless with_phred().
  void call(const Stretch& stretch, char* calls, std::uint8_t* phred = nullptr) const {
    method_->call(stretch, backend_.simd, calls, phred);
  }
  void posteriors(const Stretch& stretch, double* out, std::size_t pitch) const {
    method_->posteriors(stretch, backend_.simd, out, pitch);
  }
  // Known variable sites, for which the files of calls get new calls; null if none are given.
  const KnownSites* known_sites() const { return known_sites_.get(); }
  void set_known_sites(std::unique_ptr<const KnownSites> sites) { known_sites_ = std::move(sites); }
  // The best number of positions for call(), a multiple of kPackedGroup.
  static constexpr std::size_t stretch() { return std::size_t{1} << 17; }
  // One caller per device, for sequences of at most `longest` positions; empty if calls are made on
  // the CPU.
  DeviceCallers device_callers(std::int64_t longest) const;
  // The number of threads that call concurrently.
  int threads() const { return backend_.threads; }
  SimdLevel simd() const { return backend_.simd; }

 private:
  std::unique_ptr<const StretchCaller> method_;
  Backend backend_;
  bool with_phred_;
  std::unique_ptr<const KnownSites> known_sites_;
  CallDevices devices_;
  std::optional<DeviceMethod> on_devices_;  // empty if calls are made on the CPU
};

// Calls sequences of n positions in memory, into `calls`. Unless `posteriors` is null, it gets the
// posterior of base b at position i at posteriors[b * n + i].
void call_sequences(const Caller& caller, const SequenceSources& species, std::size_t n,
                    char* calls, double* posteriors, JobControl& control);

// A called chromosome, whose files are complete, on the disk and under their final names.
struct CalledChromosome {
  CallCounts counts;
  FileChecksum calls;
  FileChecksum phred;  // all 0 without a .phred file
};

// Called for each called chromosome, on any thread.
using ChromosomeCalled = std::function<void(std::size_t chromosome, const CalledChromosome&)>;

// Calls chromosomes into <folder>/<chromosome>.fa and returns their counts. If the caller is
// with_phred(), writes <folder>/posterior/<chromosome>.phred: error_phred() of each position, one
// byte each. All inputs are opened before calling starts. A chromosome's files appear together,
// soon after it is called; an older .phred file is removed first.
std::vector<CallCounts> call_chromosomes(const Caller& caller,
                                         const std::vector<ChromosomeSequences>& chromosomes,
                                         const std::string& folder, JobControl& control,
                                         const ChromosomeCalled& called = {});

}  // namespace ancify
