// Calling on devices: sequences are uploaded in tiles, and calls are downloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "core/ancestry/calling/tile_calling.h"
#include "core/ancestry/calling/tile_trees.h"
#include "core/ancestry/patterns/site_patterns.h"
#include "core/ancestry/patterns/voting.h"
#include "core/device/backend.h"
#include "core/device/kernels.h"
#include "core/device/tiles.h"
#include "core/exec/threads.h"
#include "core/genome/sequence_source.h"

namespace ancify {

// The device operations of calling.
using CallOperation = std::variant<CallByTable, CallByVote, CallByTrees>;
using CallKernels = Kernels<CallOperation>;
using CallDevices = std::vector<std::unique_ptr<CallKernels>>;

// The backend's devices; empty on the CPU. Throws DeviceError if a device fails.
CallDevices open_call_devices(const Backend& backend);

// A method in the form that devices apply.
struct DeviceMethod {
  int species;
  bool with_phred;
  std::int64_t reach;           // see StretchCaller::reach()
  std::vector<char> constants;  // must be in the device's memory
  // Makes the operation that calls a tile. `constants` is their address in the device's memory.
  std::function<CallOperation(const TileAround&, const char* constants)> call;
};

// Looks up calls by pattern.
DeviceMethod by_table(const CallTable& table, int species, bool with_phred);
// Counts votes, for any number of species.
DeviceMethod by_vote(const Voting& voting, bool with_phred);

// Positions [start, end) of a chromosome to call; `start` is a multiple of kPackedGroup.
struct CallInput {
  const SequenceSources& sources;
  std::int64_t length;  // of the chromosome
  std::int64_t start;
  std::int64_t end;
};

// Calls on one device, from one thread at a time.
class DeviceCaller {
 public:
  // `longest` is the length of the longest sequence; for `memory_limit` see memory_budget(). The
  // kernels, and the object that made `method`, must outlive this. Throws DeviceError if the
  // device's memory does not suffice.
  DeviceCaller(CallKernels& kernels, DeviceMethod method, std::int64_t longest,
               std::size_t memory_limit);

  CallKernels& kernels() const { return kernels_; }

  // Takes a stretch, its calls, and their phred-scaled errors (null if not wanted).
  using Take = std::function<void(const Stretch&, const char* calls, const std::uint8_t* phred)>;

  // Calls the input, and passes its stretches to take() in order.
  void call(const CallInput& input, const TaskContext& context, const Take& take);
  // Calls a whole chromosome of n positions.
  void call(const SequenceSources& sources, std::int64_t n, const TaskContext& context,
            const Take& take) {
    call({sources, n, 0, n}, context, take);
  }

 private:
  CallKernels& kernels_;
  DeviceMethod method_;
  MemoryPool pool_;
  Tiles tiles_;
  DeviceArray<char> constants_;
};

using DeviceCallers = std::vector<std::unique_ptr<DeviceCaller>>;

// The device, of n, that takes chromosome or piece i in turn.
inline std::size_t device_of(std::size_t i, std::size_t n) { return i % n; }

}  // namespace ancify
