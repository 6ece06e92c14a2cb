#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "block.h"
#include "cuda_runtime_api.h"
#include "memory.h"
#include "problems.h"

using namespace ancify::on_host;

// Does what was begun in it when it is waited for.
struct CUstream_st {
 public:
  void begin(std::function<void()> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    begun_.push_back(std::move(work));
  }
  void finish() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (; !begun_.empty(); begun_.pop_front()) begun_.front()();
  }

 private:
  std::mutex mutex_;
  std::deque<std::function<void()>> begun_;
};

namespace ancify::on_host {

namespace {

// One card that runs few blocks at once, so that threads take several turns at what is long.
constexpr int kMultiprocessors = 1;
constexpr int kBlocksOfEach = 2;
constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kMostSharedBytes = std::size_t{48} << 10;

thread_local cudaError_t last_error = cudaSuccess;
thread_local char* shared = nullptr;

cudaError_t done(bool well, cudaError_t error) {
  if (well) return cudaSuccess;
  return last_error = error;
}

class Streams {
 public:
  cudaStream_t add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return *all_.insert(new CUstream_st).first;
  }
  void remove(cudaStream_t stream) {
    stream->finish();
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.erase(stream);
    delete stream;
  }
  void finish() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto stream : all_) stream->finish();
  }

 private:
  std::mutex mutex_;
  std::set<cudaStream_t> all_;
} streams;

void begin(cudaStream_t stream, std::function<void()> work) {
  if (stream == nullptr) {
    work();
  } else {
    stream->begin(std::move(work));
  }
}

void run_grid(const std::function<void()>& kernel, unsigned blocks, unsigned threads,
              std::size_t shared_bytes) {
  blockDim = {threads};
  gridDim = {blocks};
  for (const unsigned i : indices_in_order(blocks)) {
    GuardedMemory room(shared_bytes);
    shared = room.data();
    blockIdx = {i};
    run_block(kernel);
    room.check("shared");
  }
  check_device_memory();
}

}  // namespace

void launch(std::function<void()> kernel, unsigned blocks, unsigned threads,
            std::size_t shared_bytes, cudaStream_t stream) {
  if (blocks == 0 || threads == 0 || threads > kMostThreads || shared_bytes > kMostSharedBytes) {
    problem("a launch of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
            " threads and " + std::to_string(shared_bytes) + " shared bytes");
    last_error = cudaErrorInvalidConfiguration;
    return;
  }
  begin(stream,
        [=, kernel = std::move(kernel)] { run_grid(kernel, blocks, threads, shared_bytes); });
}

void* shared_memory() { return shared; }

int blocks_at_once(int threads, std::size_t shared_bytes) {
  const bool fits = threads <= static_cast<int>(kMostThreads) && shared_bytes <= kMostSharedBytes;
  return fits ? kBlocksOfEach : 0;
}

}  // namespace ancify::on_host

const char* cudaGetErrorString(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
  }
  return "unknown error";
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* n) {
  *n = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int card) {
  *properties = {"the host", all_device_memory(), 8, 0, kMultiprocessors};
  return done(card == 0, cudaErrorInvalidDevice);
}

cudaError_t cudaSetDevice(int card) { return done(card == 0, cudaErrorInvalidDevice); }

cudaError_t cudaGetDevice(int* card) {
  *card = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  streams.finish();
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  *free = free_device_memory();
  *all = all_device_memory();
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t n) {
  *memory = take_memory(Place::kDevice, n);
  return done(*memory != nullptr, cudaErrorMemoryAllocation);
}

cudaError_t cudaMallocHost(void** memory, std::size_t n) {
  *memory = take_memory(Place::kHost, n);
  return done(*memory != nullptr, cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* memory) {
  cudaDeviceSynchronize();
  return done(memory == nullptr || give_back_memory(Place::kDevice, memory), cudaErrorInvalidValue);
}

cudaError_t cudaFreeHost(void* memory) {
  return done(memory == nullptr || give_back_memory(Place::kHost, memory), cudaErrorInvalidValue);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t n, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, n, kind, nullptr);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  begin(stream, [=] {
    copy(to, kind == cudaMemcpyDeviceToHost ? Place::kHost : Place::kDevice, from,
         kind == cudaMemcpyHostToDevice ? Place::kHost : Place::kDevice, n);
  });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = streams.add();
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream != nullptr) stream->finish();
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  streams.remove(stream);
  return cudaSuccess;
}
