// The stand-in for the CUDA runtime: streams that are late on purpose, copies, launches.
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "block.h"
#include "cuda_runtime_api.h"
#include "memory.h"
#include "problems.h"

using namespace ancify::on_host;

// A stream: it does its work when somebody waits for it.
struct CUstream_st {
 public:
  void begin(std::function<void()> work) {
    const std::lock_guard<std::recursive_mutex> lock(card);
    begun_.push_back(std::move(work));
  }
  // Does all work, or until `enough` is true.
  void finish(const bool& enough = false) {
    const std::lock_guard<std::recursive_mutex> lock(card);
    while (!begun_.empty() && !enough) {
      const auto work = std::move(begun_.front());
      begun_.pop_front();
      work();
    }
  }

 private:
  // One mutex for all streams, as work in one stream may wait for another.
  static std::recursive_mutex card;

  std::deque<std::function<void()>> begun_;
};

std::recursive_mutex CUstream_st::card;

// An event: its last recording, which waiting streams keep too.
struct CUevent_st {
  cudaStream_t stream = nullptr;
  std::shared_ptr<bool> reached;
};

namespace ancify::on_host {

namespace {

// One card that runs few blocks at once, so that threads take several turns at long work.
constexpr int kMultiprocessors = 1;
constexpr int kBlocksOfEach = 2;
constexpr unsigned kMostThreads = 1024;
constexpr unsigned kMostThreadsInZ = 64;
constexpr unsigned kMostInYOrZ = 65535;  // blocks of a grid
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

std::string text_of(const Index& index) {
  const std::string further = " x " + std::to_string(index.y) + " x " + std::to_string(index.z);
  return std::to_string(index.x) + (index.y == 1 && index.z == 1 ? "" : further);
}

void run_grid(const std::function<void()>& kernel, const Index& blocks, const Index& threads,
              std::size_t shared_bytes) {
  blockDim = threads;
  gridDim = blocks;
  for (const unsigned i : indices_in_order(static_cast<unsigned>(blocks.size()))) {
    GuardedMemory room(shared_bytes);
    shared = room.data();
    blockIdx = Index::of(i, blocks);
    run_block(kernel);
    room.check("shared");
  }
  check_device_memory();
}

}  // namespace

void begin(cudaStream_t stream, std::function<void()> work) {
  if (stream == nullptr) {
    work();
  } else {
    stream->begin(std::move(work));
  }
}

void launch(std::function<void()> kernel, const Index& blocks, const Index& threads,
            std::size_t shared_bytes, cudaStream_t stream) {
  const bool grid_fits = blocks.size() > 0 && blocks.y <= kMostInYOrZ && blocks.z <= kMostInYOrZ;
  const bool block_fits =
      threads.size() > 0 && threads.size() <= kMostThreads && threads.z <= kMostThreadsInZ;
  if (!grid_fits || !block_fits || shared_bytes > kMostSharedBytes) {
    problem("a launch of " + text_of(blocks) + " blocks of " + text_of(threads) + " threads and " +
            std::to_string(shared_bytes) + " shared bytes");
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

cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t n, cudaStream_t stream) {
  begin(stream, [=] { fill(to, byte, n); });
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

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event->reached == nullptr) return cudaSuccess;  // never recorded
  begin(stream, [from = event->stream, reached = event->reached] {
    if (!*reached) from->finish(*reached);
  });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->stream = stream;
  event->reached = std::make_shared<bool>(false);
  begin(stream, [reached = event->reached] { *reached = true; });
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
