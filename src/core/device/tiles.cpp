// Runs a job on a device in tiles: one tile is copied while another is computed.
#include "core/device/tiles.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/exec/errors.h"

namespace ancify {

std::size_t memory_budget(MemoryPool& pool, std::size_t limit, std::size_t used) {
  const std::size_t free = pool.free_memory();
  const std::size_t most = free - free / 16;  // a margin for the driver
  return limit == 0 ? most : std::min(limit - std::min(limit, used), most);
}

void throw_too_little_memory(MemoryPool& pool, std::size_t needed, std::size_t budget) {
  throw DeviceError(pool.device().name() + " has too little memory: the job needs at least " +
                    std::to_string(needed) + " bytes; " + std::to_string(pool.free_memory()) +
                    " bytes are free and it may use " + std::to_string(budget) +
                    ". End other programs on the GPU, raise gpu_memory, or use the CPU");
}

void throw_too_little_host_memory(const Device& device, std::size_t n) {
  throw DeviceError("the host has too little memory for transfer buffers of " + device.name() +
                    " (" + std::to_string(n) + " bytes). End other programs, or use the CPU");
}

namespace {

// The number of groups that fit a tile of n bytes.
std::size_t groups_in(std::size_t n, const TileBytes& bytes) {
  return n < bytes.around ? 0 : (n - bytes.around) / bytes.both();
}

}  // namespace

Tiles::Tiles(MemoryPool& pool, const TileBytes& largest, std::size_t most, std::size_t budget,
             std::size_t beside)
    : pool_(pool),
      device_(pool.device()),
      largest_(largest),
      groups_(std::min(
          most, groups_in((budget - std::min(budget, beside)) / Device::kStreams, largest))) {
  auto refused = MemoryKind::kDevice;
  while (groups_ > 0) {
    const auto kind = allocate(largest.tile(groups_));
    if (!kind) return;
    refused = *kind;
    groups_ /= 2;
  }
  if (refused == MemoryKind::kHost) throw_too_little_host_memory(device_, largest.tile(1));
  throw_too_little_memory(pool, beside + Device::kStreams * largest.tile(1), budget);
}

// Takes memory for all slots. If some is refused, frees all slots and returns the kind refused.
std::optional<MemoryKind> Tiles::allocate(std::size_t n) {
  for (auto& slot : slots_) {
    slot.on_device = {pool_, n, MemoryKind::kDevice};
    if (!slot.on_device.refused()) slot.on_host = {pool_, n, MemoryKind::kHost};
    const auto refused = slot.refused();
    if (!refused) continue;
    for (auto& any : slots_) any = {};
    pool_.release_idle();  // the next requests are smaller
    return refused;
  }
  return {};
}

Tile Tiles::tile(std::size_t first, std::size_t n, const TileBytes& bytes) const {
  const auto which = static_cast<int>(first / groups_ % Device::kStreams);
  const Slot& slot = slots_[static_cast<std::size_t>(which)];
  char* const host = slot.on_host.data();
  char* const device = slot.on_device.data();
  const std::size_t groups = std::min(groups_, n - first);
  const std::size_t in = bytes.tile_in(groups);
  return {first, groups, host, host + in, device, device + in, which};
}

void Tiles::run(std::size_t n, const TileBytes& bytes, const TaskContext& context,
                const TileWork& work) {
  drained_on_failure(device_, [&] {
    std::optional<Tile> before;
    const auto finish = [&] {
      if (!before) return;
      device_.wait(before->stream);
      work.use(*before);
    };
    for (std::size_t first = 0; first < n; first += groups_) {
      context.throw_if_stopped();
      const Tile now = tile(first, n, bytes);
      if (bytes.in > 0) {
        work.fill(now);
        device_.upload(now.device_in, now.host_in, bytes.tile_in(now.groups), now.stream);
      }
      work.compute(now);
      device_.download(now.host_out, now.device_out, now.groups * bytes.out, now.stream);
      finish();
      before = now;
    }
    finish();
  });
}

}  // namespace ancify
