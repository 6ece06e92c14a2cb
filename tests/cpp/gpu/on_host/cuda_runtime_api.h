// Stands in for CUDA's header when kernels run on the host: the parts that src/cuda and
// tests/cpp/gpu use, with CUDA's names and meanings. A block's threads take turns on one thread of
// the host, and switch at barriers. Work in a stream is done when somebody waits for it, as late as
// CUDA allows.
//
// The stand-in reports these faults on stderr, and the process then ends with 1 instead of 0:
// barriers that not all threads of a block meet, launches that no card accepts, copies out of range
// or from the wrong memory, writes beside memory, and memory that is not released. With
// AddressSanitizer, reads and writes beside memory end the process at once. With a missing barrier
// the results depend on the order of threads: ANCIFY_THREAD_ORDER is forward, reverse or random.
//
// It does not show effects of warps but exchanges of values, of blocks that run at once, of a
// card's memory model, of registers, speed, or nvcc's compilation.
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
  // The i-th index in CUDA's order: the first dimension changes fastest.
  static Index of(unsigned i, const Index& all) {
    return {i % all.x, i / all.x % all.y, i / all.x / all.y};
  }
};

// Begins work in a stream; in none it is done at once. Used by the stand-ins for CUB.
void begin(cudaStream_t stream, std::function<void()> work);

// Used by src/cuda/launch.h.
void launch(std::function<void()> kernel, const Index& blocks, const Index& threads,
            std::size_t shared_bytes, cudaStream_t stream);
void* shared_memory();
void barrier();

// Leaves a value for the threads of a warp, waits for all of them, and gives what they left, by
// lane. It is valid until the thread's exchange after the next.
const char* exchange_bytes(const char* own, std::size_t n);
template <class T>
const T* exchange(const T& own) {
  return reinterpret_cast<const T*>(
      exchange_bytes(reinterpret_cast<const char*>(&own), sizeof own));
}
// Copies to shared memory that a thread begins, and ends groups of. They are done when it waits for
// all of its groups but the last `left`.
void copy_later(std::function<void()> copy);
void end_group_of_copies();
void wait_for_copies(std::size_t left);

int blocks_at_once(int threads, std::size_t shared_bytes);

}  // namespace ancify::on_host

extern thread_local ancify::on_host::Index threadIdx, blockIdx, blockDim, gridDim;

// Inlined, so that the address of the call identifies a barrier.
[[gnu::always_inline]] inline void __syncthreads() { ancify::on_host::barrier(); }

// Bytes of x (0 to 3) and y (4 to 7), chosen by the low bits of a selector's four half bytes.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned byte = selector >> 4 * i & 7U;
    result |= ((byte < 4 ? x : y) >> 8 * (byte % 4) & 0xffU) << 8 * i;
  }
  return result;
}

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
