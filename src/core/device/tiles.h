// Runs a long sequence of equal groups through a device in tiles that fit its memory. One tile is
// copied while another is computed.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>

#include "core/device/memory_pool.h"
#include "core/exec/threads.h"

namespace ancify {

// Bytes of device memory that a job may take: the free memory less a margin. Unless `limit` is 0,
// the result is at most `limit` minus the `used` bytes that the job already has.
std::size_t memory_budget(MemoryPool& pool, std::size_t limit, std::size_t used = 0);

// Throws DeviceError: the job needs at least `needed` bytes of device memory, and may take
// `budget`.
[[noreturn]] void throw_too_little_memory(MemoryPool& pool, std::size_t needed, std::size_t budget);
// Throws DeviceError: the system refused n bytes of host memory.
[[noreturn]] void throw_too_little_host_memory(const Device& device, std::size_t n);

// Bytes of a group that go to the device (`in`) and come back (`out`).
struct TileBytes {
  std::size_t in;
  std::size_t out;
  std::size_t around = 0;  // input bytes of each tile besides its groups
  std::size_t both() const { return in + out; }
  std::size_t tile_in(std::size_t groups) const { return around + groups * in; }
  std::size_t tile(std::size_t groups) const { return around + groups * both(); }
};

// Groups [first, first + groups), and the addresses of their input and output.
struct Tile {
  std::size_t first;
  std::size_t groups;
  char* host_in;
  char* host_out;
  char* device_in;
  char* device_out;
  int stream;
};

// The steps of a tile, in order: fill host_in, start the computation, use host_out.
struct TileWork {
  std::function<void(const Tile&)> fill;
  std::function<void(const Tile&)> compute;
  std::function<void(const Tile&)> use;
};

class Tiles {
 public:
  // Takes memory for tiles of at most `most` groups (at least 1) of at most `largest` bytes. A tile
  // has as many groups as fit the budget, of which `beside` bytes stay free for other uses. If
  // memory is still refused, the tiles are halved until it suffices. Throws DeviceError if memory
  // does not suffice for tiles of one group.
  Tiles(MemoryPool& pool, const TileBytes& largest, std::size_t most, std::size_t budget,
        std::size_t beside = 0);

  // Groups per tile.
  std::size_t groups() const { return groups_; }

  // Bytes of device memory that all tiles take.
  std::size_t bytes() const { return Device::kStreams * largest_.tile(groups_); }

  // Processes groups 0 to n - 1, whose `bytes` must not exceed the largest. Tiles are filled and
  // used in order, on the caller's thread. Groups without input bytes are not filled. Throws
  // Interrupted between tiles if the job is stopped.
  void run(std::size_t n, const TileBytes& bytes, const TaskContext& context, const TileWork& work);

 private:
  struct Slot {
    // The kind of memory that was refused, if any.
    std::optional<MemoryKind> refused() const {
      if (on_device.refused()) return MemoryKind::kDevice;
      if (on_host.refused()) return MemoryKind::kHost;
      return {};
    }
    DeviceArray<char> on_device;
    DeviceArray<char> on_host;
  };

  std::optional<MemoryKind> allocate(std::size_t n);
  Tile tile(std::size_t first, std::size_t n, const TileBytes& bytes) const;

  MemoryPool& pool_;
  Device& device_;
  TileBytes largest_;
  std::size_t groups_;
  std::array<Slot, Device::kStreams> slots_;
};

}  // namespace ancify
