// Operations that count k-mers on a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/host_device.h"
#include "core/kmers/super_kmers.h"

namespace ancify {

// A super-k-mer's start in its tile, and the index of its first k-mer.
struct SuperKmerPlace {
  std::uint32_t byte;
  std::uint32_t kmer;
};

// Writes the k-mers of super-k-mers, one part per super-k-mer.
template <class Key>
struct ExpandOp {
  static constexpr const char* kName = "ExpandOp";
  const char* bytes;  // followed by sizeof(Key) readable bytes
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

// Device memory that a library needs beside the arrays; see KmerKernels.
struct DeviceWorkspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// Sorts keys by their lowest bits, as one operation.
template <class Key>
struct SortOp {
  static constexpr const char* kName = "SortOp";
  const Key* from;
  Key* to;
  std::size_t size;  // at least 1
  int bits;
  DeviceWorkspace workspace;
};

// Writes the distinct keys of sorted ones, their counts and their number, as one operation.
template <class Key>
struct CountRunsOp {
  static constexpr const char* kName = "CountRunsOp";
  const Key* sorted;
  std::size_t size;  // at least 1
  Key* keys;
  std::uint32_t* counts;
  std::uint32_t* runs;
  DeviceWorkspace workspace;
};

}  // namespace ancify
