#include "core/ancestry/calling.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/file.h"
#include "core/io/sequence_file.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/voting.h"
#endif

namespace ancify {

CallCounts& CallCounts::operator+=(const CallCounts& other) {
  high += other.high;
  low += other.low;
  unresolved += other.unresolved;
  missing += other.missing;
  return *this;
}

CallCounts count_calls(const char* calls, std::size_t n) {
  CallCounts counts;
  for (std::size_t i = 0; i < n; ++i) {
    counts.missing += calls[i] == 'N';
    counts.unresolved += calls[i] == 'n';
    counts.low += calls[i] > 'Z';
  }
  counts.low -= counts.unresolved;
  counts.high = static_cast<std::int64_t>(n) - counts.low - counts.unresolved - counts.missing;
  return counts;
}

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

void Caller::call(const char* const* species, std::size_t n, char* calls) const {
#ifdef ANCIFY_HAVE_CUDA
  if (backend_.kind == BackendKind::kGpu) {
    cuda::call_by_vote(backend_.devices.front(), voting_, species, n, calls);
    return;
  }
#endif
  if (table_) {
    table_->apply(species, n, calls);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    calls[i] = call_by_vote(voting_, [&](int s) { return base_code(species[s][i]); });
  }
}

std::size_t Caller::chunk_size() const {
  return backend_.kind == BackendKind::kGpu ? std::size_t{1} << 24 : std::size_t{1} << 18;
}

namespace {

// Runs call(start, size) over all chunks of n positions.
template <class Call>
void for_each_stretch(const Caller& caller, std::int64_t n, JobControl& control, Call call) {
  const auto chunk = static_cast<std::int64_t>(caller.chunk_size());
  run_tasks(control, caller.threads(), (n + chunk - 1) / chunk,
            [&](std::int64_t i, const StopToken&) {
              const std::int64_t start = i * chunk;
              const std::int64_t size = std::min(chunk, n - start);
              call(start, static_cast<std::size_t>(size));
              control.advance(size);
            });
}

using Inputs = std::vector<SequenceReader>;

Inputs open_inputs(const ChromosomeFiles& chromosome) {
  Inputs inputs;
  for (const auto& path : chromosome.species) {
    inputs.emplace_back(path, chromosome.name, chromosome.length);
  }
  return inputs;
}

// Calls one stretch from files to a file.
CallCounts call_stretch(const Caller& caller, const Inputs& inputs, std::int64_t start,
                        std::size_t n, SequenceWriter& output) {
  std::vector<char> bases(inputs.size() * n);
  std::vector<const char*> species;
  for (std::size_t s = 0; s < inputs.size(); ++s) {
    inputs[s].read(start, n, &bases[s * n]);
    species.push_back(&bases[s * n]);
  }
  std::vector<char> calls(n);
  caller.call(species.data(), n, calls.data());
  output.write(calls.data(), n, start);
  return count_calls(calls.data(), n);
}

CallCounts call_chromosome(const Caller& caller, const ChromosomeFiles& chromosome,
                           JobControl& control) {
  const Inputs inputs = open_inputs(chromosome);
  SequenceWriter output(chromosome.output, chromosome.name, chromosome.length);
  CallCounts counts;
  std::mutex mutex;
  for_each_stretch(caller, chromosome.length, control, [&](std::int64_t start, std::size_t n) {
    const CallCounts some = call_stretch(caller, inputs, start, n, output);
    std::lock_guard<std::mutex> lock(mutex);
    counts += some;
  });
  output.prepare(true);
  output.commit();
  return counts;
}

}  // namespace

void call_sequences(const Caller& caller, const std::vector<const char*>& species, std::size_t n,
                    char* calls, JobControl& control) {
  control.expect(static_cast<std::int64_t>(n));
  for_each_stretch(caller, static_cast<std::int64_t>(n), control,
                   [&](std::int64_t start, std::size_t size) {
                     std::vector<const char*> here;
                     for (const char* bases : species) here.push_back(bases + start);
                     caller.call(here.data(), size, calls + start);
                   });
}

std::vector<CallCounts> call_files(const Caller& caller,
                                   const std::vector<ChromosomeFiles>& chromosomes,
                                   JobControl& control) {
  for (const auto& chromosome : chromosomes) {
    open_inputs(chromosome);
    control.expect(chromosome.length);
  }
  std::vector<CallCounts> counts;
  for (const auto& chromosome : chromosomes) {
    make_folder(std::filesystem::path(chromosome.output).parent_path().string());
    counts.push_back(call_chromosome(caller, chromosome, control));
    control.log("Called " + chromosome.name);
  }
  return counts;
}

}  // namespace ancify
