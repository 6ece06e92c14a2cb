// Stands in for CUDA's header where kernels run on the host: what src/cuda and tests/cpp/gpu take
// of it, with CUDA's names and meanings. A block's threads take turns on one thread of the host,
// and are switched at barriers; what is begun in a stream is done when somebody waits for it, which
// is as late as it may.
//
// Said on stderr, and the process then ends with 1 instead of 0: barriers that not all threads of a
// block meet, launches that no card takes, copies out of range or from the wrong memory, writes
// beside memory, and memory that is not given back. With AddressSanitizer reads and writes beside
// memory end the process at once. A missing barrier gives results that depend on the order of
// threads: ANCIFY_THREAD_ORDER is forward, reverse or random.
//
// What it can't tell: warps, blocks that run at once, a card's memory model, registers, speed, and
// what nvcc makes of the code.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>

#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)

#define CUDART_VERSION 13000

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3
};
constexpr unsigned cudaStreamNonBlocking = 1;

struct CUstream_st;
using cudaStream_t = CUstream_st*;

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  int major;
  int minor;
  int multiProcessorCount;
};
struct cudaFuncAttributes {};

struct CUevent_st;
using cudaEvent_t = CUevent_st*;
constexpr unsigned cudaEventDisableTiming = 2;

const char* cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* n);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int card);
cudaError_t cudaSetDevice(int card);
cudaError_t cudaGetDevice(int* card);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all);
cudaError_t cudaMalloc(void** memory, std::size_t n);
cudaError_t cudaMallocHost(void** memory, std::size_t n);
cudaError_t cudaFree(void* memory);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t n, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t n, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventDestroy(cudaEvent_t event);

namespace ancify::on_host {

struct Index {
  unsigned x = 0, y = 0, z = 0;
  std::size_t size() const { return std::size_t{x} * y * z; }
  // The i-th of so many, as CUDA counts them: the first dimension's fastest.
  static Index of(unsigned i, const Index& all) {
    return {i % all.x, i / all.x % all.y, i / all.x / all.y};
  }
};

// For src/cuda/launch.h
void launch(std::function<void()> kernel, const Index& blocks, const Index& threads,
            std::size_t shared_bytes, cudaStream_t stream);
void* shared_memory();
void barrier();
int blocks_at_once(int threads, std::size_t shared_bytes);

}  // namespace ancify::on_host

extern thread_local ancify::on_host::Index threadIdx, blockIdx, blockDim, gridDim;

// Inlined, so that a barrier is known by who calls it
[[gnu::always_inline]] inline void __syncthreads() { ancify::on_host::barrier(); }

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  *attributes = {};
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* n, Kernel*, int threads,
                                                          std::size_t shared_bytes) {
  *n = ancify::on_host::blocks_at_once(threads, shared_bytes);
  return cudaSuccess;
}
