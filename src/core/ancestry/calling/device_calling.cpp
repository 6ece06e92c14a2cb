// Sends sequences through a device tile by tile, and passes on its calls.
#include "core/ancestry/calling/device_calling.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/genome/packed.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/call_kernels.h"
#endif

namespace ancify {

namespace {

// The most bytes of a tile: enough to keep a device and its bus busy.
constexpr std::size_t kTileBytes = std::size_t{1} << 25;

std::size_t groups_of(std::size_t positions) {
  return (positions + kPackedGroup - 1) / kPackedGroup;
}

// Groups on each side of a tile that its calls depend on.
std::size_t groups_beside(const DeviceMethod& method) {
  return groups_of(static_cast<std::size_t>(method.reach));
}

// The bytes of kPackedGroup positions.
TileBytes group_bytes(const DeviceMethod& method, SequenceForm form) {
  const std::size_t row = form == SequenceForm::kPacked ? kPackedHalf : kPackedGroup;
  const std::size_t in = static_cast<std::size_t>(method.species) * row;
  return {in, kPackedGroup * (method.with_phred ? 2 : 1), 2 * groups_beside(method) * in};
}

// The most groups of a tile.
std::size_t most_groups(const DeviceMethod& method, std::int64_t longest) {
  const std::size_t most = kTileBytes / group_bytes(method, SequenceForm::kCharacters).both();
  return std::max<std::size_t>(std::min(most, groups_of(static_cast<std::size_t>(longest))), 1);
}

// The table for call_by_table(): calls in the low bytes, their errors in the high bytes.
std::vector<char> table_entries(const CallTable& table) {
  const std::string& calls = table.calls().bytes();
  std::vector<std::uint16_t> entries(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const char phred = table.phred() != nullptr ? table.phred()->bytes()[i] : '\0';
    entries[i] = static_cast<std::uint16_t>(static_cast<std::uint8_t>(calls[i]) |
                                            static_cast<std::uint8_t>(phred) << 8);
  }
  const auto* const bytes = reinterpret_cast<const char*>(entries.data());
  return {bytes, bytes + entries.size() * sizeof(std::uint16_t)};
}

// A chromosome, or a part of one, on its way through a device.
class ChromosomeTiles {
 public:
  ChromosomeTiles(const DeviceMethod& method, const CallInput& input)
      : method_(method),
        input_(input),
        form_(input.sources.front()->form()),
        rows_(input.sources.size()) {}

  std::size_t groups() const {
    return groups_of(static_cast<std::size_t>(input_.end - input_.start));
  }

  TileBytes bytes() const { return group_bytes(method_, form_); }

  // The bytes from one species to the next.
  std::size_t pitch(const Tile& tile) const {
    const std::size_t groups = tile.groups + 2 * groups_beside(method_);
    return groups * (form_ == SequenceForm::kPacked ? kPackedHalf : kPackedGroup);
  }

  // The positions of a tile; valid until the next call.
  Stretch stretch(const Tile& tile) {
    for (std::size_t s = 0; s < rows_.size(); ++s) rows_[s] = tile.host_in + s * pitch(tile);
    const std::int64_t start = input_.start + static_cast<std::int64_t>(tile.first * kPackedGroup);
    const auto end = start + static_cast<std::int64_t>(tile.groups * kPackedGroup);
    const auto beside = static_cast<std::int64_t>(groups_beside(method_) * kPackedGroup);
    const std::int64_t first = std::max<std::int64_t>(start - beside, 0);
    return {input_.length, start, std::min(end, input_.end), first, rows_.data(), form_};
  }

  void fill(const Tile& tile) {
    const Stretch here = stretch(tile);
    const auto n =
        static_cast<std::size_t>(std::min(here.end + method_.reach, input_.length) - here.first);
    const std::size_t size = form_ == SequenceForm::kPacked ? packed_size(n) : n;
    for (std::size_t s = 0; s < rows_.size(); ++s) {
      char* const row = tile.host_in + s * pitch(tile);
      const char* const bases = input_.sources[s]->bases(here.first, n, row);
      if (bases != row) std::copy_n(bases, size, row);
    }
  }

  // The tile in the device's memory, with the bases beside it.
  TileAround on_device(const Tile& tile) {
    const Stretch here = stretch(tile);
    const CallTile calls = {tile.device_in,
                            pitch(tile),
                            method_.species,
                            form_ == SequenceForm::kPacked,
                            here.size(),
                            tile.device_out,
                            phred(tile, tile.device_out)};
    return {calls, here.first, here.start, input_.length};
  }

  // The errors, which follow the calls in a tile's output; null if not wanted.
  std::uint8_t* phred(const Tile& tile, char* out) const {
    if (!method_.with_phred) return nullptr;
    return reinterpret_cast<std::uint8_t*>(out + tile.groups * kPackedGroup);
  }

 private:
  const DeviceMethod& method_;
  const CallInput& input_;
  SequenceForm form_;
  std::vector<const char*> rows_;
};

}  // namespace

CallDevices open_call_devices(const Backend& backend) {
  CallDevices devices;
#ifdef ANCIFY_HAVE_CUDA
  for (const int number : backend.devices) {
    devices.push_back(cuda::open_call_kernels(number, number / backend.gpus_per_card));
  }
#endif
  (void)backend;
  return devices;
}

DeviceMethod by_table(const CallTable& table, int species, bool with_phred) {
  const auto call = [patterns = table.calls().bytes().size()](const TileAround& around,
                                                              const char* constants) {
    return CallByTable{around.tile, reinterpret_cast<const std::uint16_t*>(constants), patterns};
  };
  return {species, with_phred, 0, table_entries(table), call};
}

DeviceMethod by_vote(const Voting& voting, bool with_phred) {
  const auto call = [voting](const TileAround& around, const char* /*constants*/) {
    return CallByVote{around.tile, voting};
  };
  return {voting.species(), with_phred, 0, {}, call};
}

DeviceCaller::DeviceCaller(CallKernels& kernels, DeviceMethod method, std::int64_t longest,
                           std::size_t memory_limit)
    : kernels_(kernels),
      method_(std::move(method)),
      pool_(kernels.device()),
      tiles_(pool_, group_bytes(method_, SequenceForm::kCharacters), most_groups(method_, longest),
             memory_budget(pool_, memory_limit), method_.constants.size()),
      constants_(pool_, method_.constants.size()) {
  const std::size_t bytes = constants_.size();
  if (constants_.refused()) {
    throw_too_little_memory(pool_, bytes, memory_budget(pool_, memory_limit));
  }
  if (bytes == 0) return;
  Device& device = pool_.device();
  drained_on_failure(device, [&] {
    device.upload(constants_.data(), method_.constants.data(), bytes, 0);
    device.wait(0);
  });
}

void DeviceCaller::call(const CallInput& input, const TaskContext& context, const Take& take) {
  ChromosomeTiles chromosome(method_, input);
  TileWork work;
  work.fill = [&](const Tile& tile) { chromosome.fill(tile); };
  work.compute = [&](const Tile& tile) {
    kernels_.begin(method_.call(chromosome.on_device(tile), constants_.data()), tile.stream);
  };
  work.use = [&](const Tile& tile) {
    take(chromosome.stretch(tile), tile.host_out, chromosome.phred(tile, tile.host_out));
  };
  tiles_.run(chromosome.groups(), chromosome.bytes(), context, work);
}

}  // namespace ancify
