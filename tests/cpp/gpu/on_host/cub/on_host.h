// The common parts of the stand-ins for CUB: a workspace that is asked for, and arrays of the
// device.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "cuda_runtime_api.h"

namespace ancify::on_host {

// Without `workspace` sets `bytes` to what is needed; else begins the work in the stream, and
// overwrites the workspace, as CUB may.
template <class Work>
cudaError_t begin_in_workspace(void* workspace, std::size_t& bytes, std::size_t needed,
                               cudaStream_t stream, Work work) {
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) return cudaErrorInvalidValue;
  const cudaError_t status = cudaMemsetAsync(workspace, 0xff, needed, stream);
  begin(stream, std::move(work));
  return status;
}

// Copies of arrays, whose addresses are checked as in any copy.
template <class T>
std::vector<T> taken(const T* from, std::size_t n) {
  std::vector<T> values(n);
  cudaMemcpy(values.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}
template <class T>
void put(T* to, const std::vector<T>& values) {
  cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
}

}  // namespace ancify::on_host
