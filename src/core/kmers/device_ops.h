// The operations that count k-mers on a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/host_device.h"
#include "core/kmers/super_kmers.h"

namespace ancify {

// Where a super-k-mer of a tile begins, and the number of its first k-mer.
struct SuperKmerPlace {
  std::uint32_t byte;
  std::uint32_t kmer;
};

// Writes the k-mers of super-k-mers, one part a super-k-mer.
template <class Key>
struct ExpandOp {
  static constexpr const char* kName = "ExpandOp";
  const char* bytes;  // with sizeof(Key) more that may be read
  const SuperKmerPlace* places;
  std::size_t super_kmers;
  int k;
  bool canonical;
  Key* keys;

  ANCIFY_HOST_DEVICE std::size_t n() const { return super_kmers; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    Key* to = keys + places[i].kmer;
    expand_one<Key>(bytes + places[i].byte, 1 + sizeof(Key), k, canonical,
                    [&](Key key) { *to++ = key; });
  }
};

// Memory of the device that a library needs beside the arrays; see KmerKernels.
struct DeviceRoom {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// Sorts keys by their lowest bits, as a whole.
template <class Key>
struct SortOp {
  static constexpr const char* kName = "SortOp";
  const Key* from;
  Key* to;
  std::size_t size;  // at least 1
  int bits;
  DeviceRoom room;
};

// Writes the different keys of sorted ones, their counts, and how many they are, as a whole.
template <class Key>
struct CountRunsOp {
  static constexpr const char* kName = "CountRunsOp";
  const Key* sorted;
  std::size_t size;  // at least 1
  Key* keys;
  std::uint32_t* counts;
  std::uint32_t* runs;
  DeviceRoom room;
};

}  // namespace ancify
