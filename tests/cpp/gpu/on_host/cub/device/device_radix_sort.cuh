// Stands in for CUB's sort when kernels run on the host: a plain sort, by the same arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cub/on_host.h"

namespace cub {

struct DeviceRadixSort {
  template <class Key>
  static cudaError_t SortKeys(void* workspace, std::size_t& bytes, const Key* from, Key* to, int n,
                              int begin_bit, int end_bit, cudaStream_t stream) {
    const auto size = static_cast<std::size_t>(n);
    return ancify::on_host::begin_in_workspace(
        workspace, bytes, size * sizeof(Key) + 1, stream, [=] {
          std::vector<Key> keys = ancify::on_host::taken(from, size);
          const auto bits = [=](Key key) {
            return static_cast<Key>(key << (8 * sizeof(Key) - static_cast<std::size_t>(end_bit))) >>
                   (8 * sizeof(Key) - static_cast<std::size_t>(end_bit - begin_bit));
          };
          std::stable_sort(keys.begin(), keys.end(),
                           [&](Key a, Key b) { return bits(a) < bits(b); });
          ancify::on_host::put(to, keys);
        });
  }
};

}  // namespace cub
