// Calling on devices: sequences go up in tiles or are there already, calls come back.
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

// What devices do for calling.
using CallOperation = std::variant<CallByTable, CallByVote, CallByTrees>;
using CallKernels = Kernels<CallOperation>;
using CallDevices = std::vector<std::unique_ptr<CallKernels>>;

// The backend's devices, none for the CPU. DeviceError where one fails.
CallDevices open_call_devices(const Backend& backend);

// A method as devices apply it.
struct DeviceMethod {
  int species;
  bool with_phred;
  std::int64_t reach;           // as StretchCaller has it
  std::vector<char> constants;  // have to be in the device's memory
  // What calls a tile, given where the constants are on the device.
  std::function<CallOperation(const TileAround&, const char* constants)> call;
};

// A call of each pattern, looked up.
DeviceMethod by_table(const CallTable& table, int species, bool with_phred);
DeviceMethod by_vote(const Voting& voting, bool with_phred);

// A chromosome's sequences in a device's memory, a character a position: of species s at
// bases + s * pitch, and what is behind the last position may be read up to a whole lane.
struct DeviceRows {
  char* bases;
  std::size_t pitch;
};

// Positions [start, end) to call of a chromosome; `start` is a multiple of kPackedGroup.
struct CallInput {
  const SequenceSources& sources;
  const DeviceRows* rows;  // in place of the sources, if it is not null
  std::int64_t length;     // of the chromosome
  std::int64_t start;
  std::int64_t end;
};

// Calls on one device, by one thread at a time.
class DeviceCaller {
 public:
  // `longest`: positions of the longest sequence. `memory_limit`: see memory_budget(). The
  // kernels, and what the method is made of, have to stay. DeviceError if the device has too little
  // memory.
  DeviceCaller(CallKernels& kernels, DeviceMethod method, std::int64_t longest,
               std::size_t memory_limit);

  CallKernels& kernels() const { return kernels_; }
  // What is taken of it has to go before the caller.
  MemoryPool& pool() { return pool_; }
  // Bytes of the device's memory that may be taken besides.
  std::size_t memory_left();

  // Takes the calls of a stretch, which has no bases if they are in the device's memory, and, or
  // null, their phred-scaled errors.
  using Take = std::function<void(const Stretch&, const char* calls, const std::uint8_t* phred)>;

  // take() gets the stretches in their order.
  void call(const CallInput& input, const TaskContext& context, const Take& take);
  // A whole chromosome of n positions.
  void call(const SequenceSources& sources, std::int64_t n, const TaskContext& context,
            const Take& take) {
    call({sources, nullptr, n, 0, n}, context, take);
  }

 private:
  CallKernels& kernels_;
  DeviceMethod method_;
  std::size_t memory_limit_;
  MemoryPool pool_;
  Tiles tiles_;
  DeviceArray<char> constants_;
};

using DeviceCallers = std::vector<std::unique_ptr<DeviceCaller>>;

// Which of n devices takes the i-th chromosome, or piece of one: they take turns.
inline std::size_t device_of(std::size_t i, std::size_t n) { return i % n; }

}  // namespace ancify
