// Stands in for CUB's run lengths when kernels run on the host, by the same arguments.
#pragma once

#include <cstddef>
#include <vector>

#include "cub/on_host.h"

namespace cub {

struct DeviceRunLengthEncode {
  template <class Key, class Length, class Number>
  static cudaError_t Encode(void* workspace, std::size_t& bytes, const Key* from, Key* keys,
                            Length* lengths, Number* runs, int n, cudaStream_t stream) {
    const auto size = static_cast<std::size_t>(n);
    return ancify::on_host::begin_in_workspace(workspace, bytes, size / 8 + 1, stream, [=] {
      std::vector<Key> different;
      std::vector<Length> each;
      for (const Key& key : ancify::on_host::taken(from, size)) {
        if (different.empty() || different.back() != key) {
          different.push_back(key);
          each.push_back(0);
        }
        ++each.back();
      }
      ancify::on_host::put(keys, different);
      ancify::on_host::put(lengths, each);
      ancify::on_host::put(runs, std::vector<Number>{static_cast<Number>(different.size())});
    });
  }
};

}  // namespace cub
