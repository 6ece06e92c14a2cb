// Projects alignments into memory, files or devices, and calls from there.
#include "core/ancestry/calling/project_and_call.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "core/ancestry/calling/device_sequences.h"
#include "core/genome/sequence_store.h"

namespace ancify {

namespace {

// The host's store for a species' sequences, and a source for each chromosome afterwards.
struct HostSequences {
  std::unique_ptr<SequenceStore> store;
  std::function<std::unique_ptr<SequenceSource>(std::size_t chromosome)> source;
};

HostSequences in_files(const std::string& folder, const std::vector<Chromosome>& chromosomes) {
  return {std::make_unique<FileStore>(folder, chromosomes), [&](std::size_t i) {
            const auto& [name, length] = chromosomes[i];
            return file_source(sequence_path(folder, name), name, length);
          }};
}

// Keeps chromosomes that are on no device.
HostSequences in_memory(std::vector<Chromosome> chromosomes, const DeviceSequences& on_devices,
                        SimdLevel simd) {
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    if (on_devices.rows(i) != nullptr) chromosomes[i].length = 0;
  }
  auto store = std::make_unique<PackedStore>(chromosomes, simd);
  const PackedStore& packed = *store;
  return {std::move(store), [&packed](std::size_t i) {
            return memory_source(packed.packed(i), SequenceForm::kPacked);
          }};
}

std::vector<ChromosomeSequences> all_to_call(const std::vector<Chromosome>& chromosomes,
                                             const DeviceSequences& on_devices,
                                             const std::vector<HostSequences>& on_host) {
  std::vector<ChromosomeSequences> all;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    const DeviceRows* const rows = on_devices.rows(i);
    const auto open = [i, rows, &on_host] {
      SequenceSources sources;
      if (rows != nullptr) return sources;
      for (const auto& host : on_host) sources.push_back(host.source(i));
      return sources;
    };
    all.push_back({chromosomes[i].name, chromosomes[i].length, open, rows});
  }
  return all;
}

}  // namespace

ProjectedAndCalled project_and_call(const std::vector<OutgroupAlignment>& outgroups,
                                    const std::vector<Chromosome>& chromosomes,
                                    const ProjectionOptions& options, const Caller& caller,
                                    const std::string& output, JobControl& control,
                                    const RunListener& listener) {
  std::int64_t longest = 0;
  for (const auto& chromosome : chromosomes) longest = std::max(longest, chromosome.length);
  const DeviceCallers callers = caller.device_callers(longest);
  const DeviceSequences on_devices(callers, chromosomes, caller.species());
  const std::size_t others = chromosomes.size() - on_devices.size();
  if (!callers.empty() && others > 0) {
    control.log("The projected sequences of " + std::to_string(others) + " of " +
                std::to_string(chromosomes.size()) +
                " chromosomes do not fit the GPUs' memory: they go there in tiles");
  }

  std::vector<HostSequences> on_host;
  std::vector<Alignment> alignments;
  for (const auto& [species, file, name_in_file, folder] : outgroups) {
    const bool kept = !folder.empty();
    on_host.push_back(kept ? in_files(folder, chromosomes)
                           : in_memory(chromosomes, on_devices, options.simd));
    auto store = std::move(on_host.back().store);
    if (on_devices.size() > 0) {
      store = on_devices.store(static_cast<int>(alignments.size()), std::move(store), kept);
    }
    alignments.push_back({species, file, std::move(store), name_in_file});
  }
  auto reports = project_alignments(alignments, chromosomes, options, caller.threads(), control,
                                    listener.projected);
  const auto to_call = all_to_call(chromosomes, on_devices, on_host);
  return {std::move(reports),
          call_chromosomes(caller, callers, to_call, output, control, listener.called)};
}

}  // namespace ancify
