// Sends super-k-mers to devices in tiles, and fetches counted k-mers.
#include "core/kmers/device_counts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>

#include "core/device/memory_pool.h"
#include "core/device/tiles.h"
#include "core/exec/errors.h"
#include "core/kmers/sorted_counts.h"

#if defined(ANCIFY_HAVE_CUDA) && !defined(ANCIFY_NO_CUB)
#define ANCIFY_HAVE_KMER_KERNELS 1
#include "cuda/kmer_kernels.h"
#endif

namespace ancify {

namespace {

// Upper bound of the bytes of n k-mers: each is a super-k-mer of its own.
std::size_t most_bytes(std::size_t n, int k) { return n * super_kmer_bytes(1, k); }

// A tile: memory for some of a partition's super-k-mers and their k-mers, and its contents.
template <class Key>
struct KmerTile {
  KmerTile() = default;
  // `workspace`: bytes of workspace for libraries.
  KmerTile(MemoryPool& pool, std::size_t kmers, int k, std::size_t workspace)
      : places(pool, kmers),
        bytes(pool, most_bytes(kmers, k) + sizeof(Key)),
        keys(pool, kmers),
        sorted(pool, kmers),
        counts(pool, kmers),
        runs(pool, 1),
        workspace(pool, workspace) {}

  // Bytes of such a tile without that workspace.
  static std::size_t bytes_here(std::size_t kmers, int k) {
    return kmers * (sizeof(SuperKmerPlace) + sizeof(Key) + sizeof(std::uint32_t)) +
           most_bytes(kmers, k) + sizeof(Key) + sizeof(std::uint32_t);
  }
  static std::size_t bytes_there(std::size_t kmers, int k) {
    return bytes_here(kmers, k) + kmers * sizeof(Key);
  }
  bool refused_here() const {
    return places.here.refused() || bytes.here.refused() || keys.here.refused() ||
           counts.here.refused() || runs.here.refused();
  }
  bool refused_there() const {
    return places.there.refused() || bytes.there.refused() || keys.there.refused() ||
           sorted.refused() || counts.there.refused() || runs.there.refused() ||
           workspace.refused();
  }

  Mirrored<SuperKmerPlace> places;
  Mirrored<char> bytes;
  Mirrored<Key> keys;  // all in order of position; later the distinct ones
  DeviceArray<Key> sorted;
  Mirrored<std::uint32_t> counts;
  Mirrored<std::uint32_t> runs;
  DeviceArray<char> workspace;

  std::size_t n_super_kmers = 0;
  std::size_t n_bytes = 0;
  std::size_t n_kmers = 0;
  bool ends_partition = false;
};

// Counts on one device, for one thread at a time. While it counts a tile, the previous one is
// fetched and the next one filled.
template <class Key>
class DeviceCounter {
 public:
  // Tiles have at most `most` >= kMostKmers k-mers, halved while the device refuses memory.
  // DeviceError if memory is too small for tiles of kMostKmers.
  DeviceCounter(KmerKernels& kernels, const KmerSettings& settings, std::size_t most,
                std::size_t memory_limit, Partitions& super_kmers, KmerParts& counts)
      : kernels_(kernels),
        device_(kernels.device()),
        settings_(settings),
        super_kmers_(super_kmers),
        counts_(counts),
        pool_(device_),
        most_(most) {
    const std::size_t budget = memory_budget(pool_, memory_limit);
    while (!take_memory(budget)) {
      if (most_ == kMostKmers) throw_too_little(budget);
      most_ = std::max(most_ / 2, kMostKmers);
    }
  }
  ~DeviceCounter() { device_.drain(); }  // after a failure, kernels may still use the memory
  DeviceCounter(const DeviceCounter&) = delete;
  DeviceCounter& operator=(const DeviceCounter&) = delete;

  // Counts a partition. Its last tile ends with the next call.
  void count(std::size_t part, const TaskContext& context) {
    super_kmers_.take(part, [&](const char* block, std::size_t size) {
      for (const char* const end = block + size; block != end;) {
        block = fill(tiles_[now_], block, end);
        if (block != end) begin_tile(context);
      }
    });
    tiles_[now_].ends_partition = true;
    begin_tile(context);
  }
  // Ends the last tile.
  void finish(const TaskContext& context) { finish_tile(other(), context); }

 private:
  using Tile = KmerTile<Key>;

  std::size_t other() const { return 1 - now_; }

  // ---- Memory ----

  std::size_t workspace_bytes() {
    SortOp<Key> sort = {};
    CountRunsOp<Key> count = {};
    sort.size = count.size = most_;
    sort.bits = 2 * settings_.k;
    return std::max(kernels_.workspace_for(sort), kernels_.workspace_for(count));
  }
  std::size_t bytes_there() {
    return Device::kStreams * (Tile::bytes_there(most_, settings_.k) + workspace_bytes());
  }
  // False if memory is refused; none is then held.
  bool take_memory(std::size_t budget) {
    host_refused_ = false;
    if (bytes_there() > budget) return false;
    const std::size_t workspace = workspace_bytes();
    for (Tile& tile : tiles_) {
      tile = Tile(pool_, most_, settings_.k, workspace);
      host_refused_ = tile.refused_here();
      if (!host_refused_ && !tile.refused_there()) continue;
      for (Tile& any : tiles_) any = {};
      pool_.release_idle();  // the next requests are smaller
      return false;
    }
    return true;
  }
  [[noreturn]] void throw_too_little(std::size_t budget) {
    if (!host_refused_) throw_too_little_memory(pool_, bytes_there(), budget);
    throw_too_little_host_memory(device_, Device::kStreams * Tile::bytes_here(most_, settings_.k));
  }

  // ---- Tiles ----

  // Adds super-k-mers until the tile is full. Returns the start of the rest.
  const char* fill(Tile& tile, const char* block, const char* end) {
    const char* at = block;
    for (; at != end && tile.n_kmers + kmers_of(at) <= most_; ++tile.n_super_kmers) {
      const std::size_t byte = tile.n_bytes + static_cast<std::size_t>(at - block);
      tile.places.here.data()[tile.n_super_kmers] = {static_cast<std::uint32_t>(byte),
                                                     static_cast<std::uint32_t>(tile.n_kmers)};
      tile.n_kmers += kmers_of(at);
      at += super_kmer_bytes(kmers_of(at), settings_.k);
    }
    const auto size = static_cast<std::size_t>(at - block);
    std::memcpy(tile.bytes.here.data() + tile.n_bytes, block, size);
    tile.n_bytes += size;
    return at;
  }

  // Starts to count the filled tile, and finishes the previous one.
  void begin_tile(const TaskContext& context) {
    context.throw_if_stopped();
    if (tiles_[now_].n_kmers > 0) compute(tiles_[now_], static_cast<int>(now_));
    finish_tile(other(), context);
    now_ = other();
  }

  void compute(const Tile& tile, int stream) {
    const DeviceWorkspace workspace = {tile.workspace.data(), tile.workspace.size()};
    Key* const keys = tile.keys.there.data();
    Key* const sorted = tile.sorted.data();
    device_.upload(tile.places.there.data(), tile.places.here.data(), tile.n_super_kmers, stream);
    device_.upload(tile.bytes.there.data(), tile.bytes.here.data(), tile.n_bytes, stream);
    kernels_.begin(ExpandOp<Key>{tile.bytes.there.data(), tile.places.there.data(),
                                 tile.n_super_kmers, settings_.k, settings_.canonical, keys},
                   stream);
    kernels_.begin(SortOp<Key>{keys, sorted, tile.n_kmers, 2 * settings_.k, workspace}, stream);
    kernels_.begin(CountRunsOp<Key>{sorted, tile.n_kmers, keys, tile.counts.there.data(),
                                    tile.runs.there.data(), workspace},
                   stream);
    device_.download(tile.runs.here.data(), tile.runs.there.data(), 1, stream);
  }

  void finish_tile(std::size_t which, const TaskContext& context) {
    Tile& tile = tiles_[which];
    if (tile.n_kmers > 0) {
      auto counts = take_back(tile, static_cast<int>(which));
      counted_ = counted_.empty() ? std::move(counts) : add_counts(counted_, counts);
    }
    if (tile.ends_partition) pass_on(context);
    tile.n_super_kmers = tile.n_bytes = tile.n_kmers = 0;
    tile.ends_partition = false;
  }

  std::vector<Counted<Key>> take_back(const Tile& tile, int stream) {
    device_.wait(stream);
    std::vector<Counted<Key>> counts(*tile.runs.here.data());
    device_.download(tile.keys.here.data(), tile.keys.there.data(), counts.size(), stream);
    device_.download(tile.counts.here.data(), tile.counts.there.data(), counts.size(), stream);
    device_.wait(stream);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = {tile.keys.here.data()[i], tile.counts.here.data()[i]};
    }
    return counts;
  }

  // Adds the partition's k-mers to the parts by first bases. Idle threads help.
  void pass_on(const TaskContext& context) {
    constexpr std::size_t piece = 1 << 14;
    const std::size_t n = counted_.size();
    context.share(static_cast<std::int64_t>((n + piece - 1) / piece), [&](std::int64_t i) {
      const std::size_t first = static_cast<std::size_t>(i) * piece;
      counts_.add(counted_.data() + first, std::min(piece, n - first));
    });
    counted_.clear();
  }

  KmerKernels& kernels_;
  Device& device_;
  KmerSettings settings_;
  Partitions& super_kmers_;
  KmerParts& counts_;
  MemoryPool pool_;
  std::size_t most_;  // k-mers of a tile
  bool host_refused_ = false;
  std::array<Tile, Device::kStreams> tiles_;
  std::size_t now_ = 0;                // the tile that is filled next
  std::vector<Counted<Key>> counted_;  // of the partition's tiles so far
};

// The k-mers of a tile. Its arrays on the host take an eighth of the memory, as on the CPU, and no
// partition has more than four k-mers a byte.
template <class Key>
std::size_t most_of_a_tile(std::size_t devices, int k, std::size_t memory,
                           const Partitions& super_kmers) {
  constexpr std::size_t least = 1 << 14;
  constexpr std::size_t most = 1 << 26;
  std::size_t largest = 0;
  for (std::size_t part = 0; part < super_kmers.size(); ++part) {
    largest = std::max(largest, super_kmers.bytes(part));
  }
  const std::size_t each = devices * Device::kStreams * KmerTile<Key>::bytes_here(1, k);
  return std::max(std::min(std::clamp(memory / 8 / each, least, most), 4 * largest), kMostKmers);
}

template <class Key>
void count_partitions_on(const KmerDevices& devices, const KmerSettings& settings,
                         const KmerWork& work, Partitions& super_kmers, KmerParts& counts,
                         JobControl& control) {
  const std::size_t lanes = devices.kernels.size();
  const std::size_t most = most_of_a_tile<Key>(lanes, settings.k, work.memory, super_kmers);
  std::deque<DeviceCounter<Key>> counters;
  for (const auto& kernels : devices.kernels) {
    counters.emplace_back(*kernels, settings, most, devices.memory_limit, super_kmers, counts);
  }
  // The last task of each lane finishes its work.
  const std::size_t parts = super_kmers.size();
  run_in_lanes(control, work.threads, static_cast<int>(lanes),
               static_cast<std::int64_t>(parts + lanes),
               [&](std::int64_t task, const TaskContext& context) {
                 const auto i = static_cast<std::size_t>(task);
                 DeviceCounter<Key>& counter = counters[i % lanes];
                 if (i >= parts) return counter.finish(context);
                 counter.count(i, context);
                 control.advance(1);
               });
}

}  // namespace

KmerDevices open_kmer_devices(const Backend& backend) {
  check_usable_here(backend);
  KmerDevices devices;
  devices.memory_limit = backend.gpu_memory;
#ifdef ANCIFY_HAVE_KMER_KERNELS
  for (const int number : backend.devices) {
    devices.kernels.push_back(cuda::open_kmer_kernels(number, number / backend.gpus_per_card));
  }
#else
  if (!backend.devices.empty()) {
    throw DeviceError(
        "this build of ancify cannot count k-mers on a GPU, as its CUDA toolkit has no CUB that "
        "sorts 128 bits: install it again with CUDA 12.2 or newer, or use the CPU");
  }
#endif
  return devices;
}

void count_on_devices(const KmerDevices& devices, const KmerSettings& settings,
                      const KmerWork& work, Partitions& super_kmers, KmerParts& counts,
                      JobControl& control) {
  with_key(settings.k, [&](auto key) {
    count_partitions_on<decltype(key)>(devices, settings, work, super_kmers, counts, control);
  });
}

}  // namespace ancify
