// Phase 2: a base and its confidence for every position, from the outgroups' projected sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/call_counts.h"
#include "core/ancestry/site_patterns.h"
#include "core/ancestry/voting.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"

namespace ancify {

// Calls by vote on a backend: by table for few species, position by position for many.
class Caller {
 public:
  // InputError unless both tiers have species and the minima are at least 1.
  Caller(const Voting& voting, const Backend& backend);
  // Calls n positions; species[i] are those of species i, inner ones first.
  void call(const char* const* species, SequenceForm form, std::size_t n, char* calls) const;
  // Positions that are called at once, a multiple of kPackedGroup.
  std::size_t stretch() const;
  // Threads on which call() at once makes sense.
  int threads() const { return backend_.kind == BackendKind::kGpu ? 1 : backend_.threads; }
  SimdLevel simd() const { return backend_.simd; }

 private:
  Voting voting_;
  Backend backend_;
  std::optional<CallTable> table_;
};

// One species' sequence of a chromosome, read piece by piece.
class SequenceSource {
 public:
  virtual ~SequenceSource() = default;
  virtual SequenceForm form() const = 0;
  // n positions from `start` on, a multiple of kPackedGroup; in `buffer`, which has room for n
  // bytes, or where they are.
  virtual const char* bases(std::int64_t start, std::size_t n, char* buffer) const = 0;
};

using SequenceSources = std::vector<std::unique_ptr<SequenceSource>>;

// The one-line FASTA of a chromosome; FormatError if it is not that.
std::unique_ptr<SequenceSource> file_source(const std::string& path, const std::string& name,
                                            std::int64_t length);

// Sequences in memory, which have to stay there.
std::unique_ptr<SequenceSource> memory_source(const char* bases, SequenceForm form);

// Calls sequences of n positions in memory, into `calls`.
void call_sequences(const Caller& caller, const SequenceSources& species, std::size_t n,
                    char* calls, JobControl& control);

// A chromosome to call; open() gives the sequences of all species, all in one form.
struct ChromosomeToCall {
  std::string name;
  std::int64_t length;
  std::function<SequenceSources()> open;
};

// Calls chromosomes into <folder>/<chromosome>.fa. All inputs are looked at before the first is
// called; the files appear at the end, when all are whole and on the disk.
std::vector<CallCounts> call_chromosomes(const Caller& caller,
                                         const std::vector<ChromosomeToCall>& chromosomes,
                                         const std::string& folder, JobControl& control);

}  // namespace ancify
