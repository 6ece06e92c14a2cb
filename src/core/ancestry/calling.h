// Phase 2: a base and its confidence for every position, from the outgroups' projected sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/site_patterns.h"
#include "core/ancestry/voting.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"

namespace ancify {

// How many positions are ACGT, acgt, n and N.
struct CallCounts {
  std::int64_t high = 0;
  std::int64_t low = 0;
  std::int64_t unresolved = 0;
  std::int64_t missing = 0;

  CallCounts& operator+=(const CallCounts& other);
};

CallCounts count_calls(const char* calls, std::size_t n);

// Calls by vote on a backend: by table for few species, position by position for many.
class Caller {
 public:
  // InputError unless both tiers have species and the minima are at least 1.
  Caller(const Voting& voting, const Backend& backend);
  // Calls n positions; species[i] are those of species i, inner ones first.
  void call(const char* const* species, std::size_t n, char* calls) const;
  // Positions that make a chunk worth the backend's while.
  std::size_t chunk_size() const;
  // Threads that call() at once make sense.
  int threads() const { return backend_.threads; }

 private:
  Voting voting_;
  Backend backend_;
  std::optional<CallTable> table_;
};

// Calls sequences in memory, all n positions long, into `calls`.
void call_sequences(const Caller& caller, const std::vector<const char*>& species, std::size_t n,
                    char* calls, JobControl& control);

// A chromosome to call: the projected sequence of every species, and the file to write.
struct ChromosomeFiles {
  std::string name;
  std::int64_t length;
  std::vector<std::string> species;
  std::string output;
};

// Calls chromosomes one after the other; each file appears when it is whole and on the disk. All
// inputs are looked at before the first is called.
std::vector<CallCounts> call_files(const Caller& caller,
                                   const std::vector<ChromosomeFiles>& chromosomes,
                                   JobControl& control);

}  // namespace ancify
