// Counts partitions of super-k-mers on devices.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "core/device/backend.h"
#include "core/device/kernels.h"
#include "core/exec/threads.h"
#include "core/kmers/device_ops.h"
#include "core/kmers/sorted_parts.h"

namespace ancify {

using KmerCountOperation =
    std::variant<ExpandOp<ShortKey>, ExpandOp<LongKey>, SortOp<ShortKey>, SortOp<LongKey>,
                 CountRunsOp<ShortKey>, CountRunsOp<LongKey>>;
using KmerKernels = Kernels<KmerCountOperation>;

struct KmerDevices {
  std::vector<std::unique_ptr<KmerKernels>> kernels;  // none: the CPU counts
  std::size_t memory_limit = 0;                       // of each; see memory_budget()
};

// The backend's devices; none on the CPU. DeviceError if a device fails.
KmerDevices open_kmer_devices(const Backend& backend);

// Counts all partitions and frees them. Devices take partitions in turn, and idle threads help.
// DeviceError if a device fails or has too little memory.
void count_on_devices(const KmerDevices& devices, const KmerSettings& settings,
                      const KmerWork& work, Partitions& super_kmers, KmerParts& counts,
                      JobControl& control);

}  // namespace ancify
