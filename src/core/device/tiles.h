// A long row of equal groups goes through a device in tiles that fit its memory, two at a time: one
// is copied while the other is computed.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>

#include "core/device/memory_pool.h"
#include "core/exec/threads.h"

namespace ancify {

// Bytes that a job may take of a device: what is free, less a margin, and no more than `limit`
// where that is not 0.
std::size_t memory_budget(MemoryPool& pool, std::size_t limit);

// DeviceError that the device has too little memory for what is needed at the least.
[[noreturn]] void throw_too_little_memory(MemoryPool& pool, std::size_t needed, std::size_t budget);
// DeviceError that n bytes of the host's memory were refused.
[[noreturn]] void throw_too_little_host_memory(const Device& device, std::size_t n);

// Bytes of a group that go to the device and that come back.
struct TileBytes {
  std::size_t in;
  std::size_t out;
  std::size_t around = 0;  // of what goes there with each tile, beside its groups
  std::size_t both() const { return in + out; }
  std::size_t tile_in(std::size_t groups) const { return around + groups * in; }
  std::size_t tile(std::size_t groups) const { return around + groups * both(); }
};

// Groups [first, first + groups), and where what goes in and comes out is.
struct Tile {
  std::size_t first;
  std::size_t groups;
  char* host_in;
  char* host_out;
  char* device_in;
  char* device_out;
  int stream;
};

// The steps of a tile, in their order: fill host_in, begin to compute, use host_out.
struct TileWork {
  std::function<void(const Tile&)> fill;
  std::function<void(const Tile&)> compute;
  std::function<void(const Tile&)> use;
};

class Tiles {
 public:
  // Takes memory for tiles of at most `most` groups (at least 1) of `largest` bytes: as many as the
  // budget has room for with `beside` bytes for something else, and half as many again and again
  // where the memory is not there after all. DeviceError if there is too little for tiles of one
  // group.
  Tiles(MemoryPool& pool, const TileBytes& largest, std::size_t most, std::size_t budget,
        std::size_t beside = 0);

  // Groups of a tile.
  std::size_t groups() const { return groups_; }

  // Of the device's memory, all tiles together.
  std::size_t bytes() const { return Device::kStreams * largest_.tile(groups_); }

  // Does the work on groups 0 to n - 1, of bytes no more than the largest. Tiles are filled and
  // used in their order, on the caller's thread; none is filled of groups that have no bytes to go
  // in. Interrupted between tiles.
  void run(std::size_t n, const TileBytes& bytes, const TaskContext& context, const TileWork& work);

 private:
  struct Slot {
    // The kind of memory that there was too little of.
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
