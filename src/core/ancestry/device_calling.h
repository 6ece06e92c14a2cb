// Calling on devices: sequences go up in tiles, calls come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/ancestry/site_features.h"
#include "core/ancestry/site_patterns.h"
#include "core/ancestry/tile_calling.h"
#include "core/device/backend.h"
#include "core/device/tiles.h"
#include "core/exec/threads.h"
#include "core/io/sequence_source.h"

namespace ancify {

// A device and what it can do for calling: to begin, in a stream, what tile_calling.h does for each
// lane or position.
class CallKernels {
 public:
  CallKernels() = default;
  virtual ~CallKernels() = default;
  CallKernels(const CallKernels&) = delete;
  CallKernels& operator=(const CallKernels&) = delete;

  virtual Device& device() = 0;
  virtual void call_by_table(const CallTile& tile, const std::uint16_t* table, std::size_t patterns,
                             int stream) = 0;
  virtual void call_by_vote(const CallTile& tile, const Voting& voting, int stream) = 0;
};

using CallDevices = std::vector<std::unique_ptr<CallKernels>>;

// The backend's devices, none for the CPU. DeviceError where one fails.
CallDevices open_call_devices(const Backend& backend);

// What calls on a device: a table, or where there is none voting.
struct DeviceMethod {
  int species;
  const CallTable* table;
  Voting voting;
  bool with_phred;
};

// Calls on one device, by one thread at a time.
class DeviceCaller {
 public:
  // `longest`: positions of the longest sequence. `memory_limit`: see memory_budget(). The
  // kernels and the table have to stay. DeviceError if the device has too little memory.
  DeviceCaller(CallKernels& kernels, const DeviceMethod& method, std::int64_t longest,
               std::size_t memory_limit);

  // Takes the calls of a stretch and, or null, their phred-scaled errors.
  using Take = std::function<void(const Stretch&, const char* calls, const std::uint8_t* phred)>;

  // Calls a chromosome of n positions; take() gets its stretches in their order.
  void call(const SequenceSources& sources, std::int64_t n, const TaskContext& context,
            const Take& take);

 private:
  CallKernels& kernels_;
  DeviceMethod method_;
  Tiles tiles_;
  std::optional<DeviceMemory> table_;
};

}  // namespace ancify
