// An NVIDIA GPU as a Device. Only .cu files include this.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

#include "core/device/device.h"
#include "core/exec/threads.h"
#include "cuda/check.h"
#include "cuda/launch.h"

namespace ancify::cuda {

// A stream on the calling thread's current card.
class Stream {
 public:
  Stream() {
    ANCIFY_CUDA_CHECK(cudaGetDevice(&card_));
    ANCIFY_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  // R's garbage collector may run this on any thread, and in a forked child, which must not touch a
  // card.
  ~Stream() {
    if (in_forked_child()) return;
    cudaSetDevice(card_);
    cudaStreamDestroy(stream_);
    cudaGetLastError();  // so that no later call reports it again
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  int card_ = 0;
  cudaStream_t stream_ = nullptr;
};

// An event on the calling thread's current card.
class CudaEvent : public Event {
 public:
  CudaEvent() {
    ANCIFY_CUDA_CHECK(cudaGetDevice(&card_));
    ANCIFY_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  ~CudaEvent() override {
    if (in_forked_child()) return;
    cudaSetDevice(card_);
    cudaEventDestroy(event_);
    cudaGetLastError();
  }
  cudaEvent_t get() const { return event_; }

 private:
  int card_ = 0;
  cudaEvent_t event_ = nullptr;
};

class CudaDevice : public Device {
 public:
  // `number`: the device's index in messages. Several devices may share a card.
  CudaDevice(int number, int card);

  std::string name() const override { return name_; }
  std::size_t free_memory() override;
  void* allocate(std::size_t n, MemoryKind kind) override;
  void release(void* memory, MemoryKind kind) noexcept override;
  std::unique_ptr<Event> record(int stream) override;
  void wait_for(const Event& event, int stream) override;
  void wait(int stream) override;
  void drain() noexcept override;

  // A launch of a kernel: n threads, or as many as the card runs at once if fewer.
  struct Launch {
    const char* kernel;  // its name
    Count n;
    int stream;
    std::size_t shared_bytes = 0;
    Extent threads = 256;  // per block
  };
  template <class... Parameters, class... Arguments>
  void launch(const Launch& how, void (*kernel)(Parameters...), const Arguments&... arguments) {
    use();
    const int threads = static_cast<int>(how.threads.size());
    int each = 0;
    ANCIFY_CUDA_CHECK_ON(name_, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                    &each, kernel, threads, how.shared_bytes));
    const std::size_t most = multiprocessors_ * static_cast<std::size_t>(each > 1 ? each : 1);
    const Blocks blocks = {blocks_for(how.n, how.threads, most), how.threads, how.shared_bytes};
    cuda::launch(kernel, blocks, streams_[how.stream].get(), arguments...);
    check(cudaGetLastError(), name_ + ": ", how.kernel, __FILE__, __LINE__);
  }
  // Calls a library that starts its work in a stream: begin(stream) returns its status.
  template <class Begin>
  void call(const char* what, int stream, const Begin& begin) {
    use();
    check(begin(streams_[stream].get()), name_ + ": ", what, __FILE__, __LINE__);
  }

 protected:
  void begin_copy_of_bytes(Copy way, void* to, const void* from, std::size_t n,
                           int stream) override;
  void begin_fill(void* to, unsigned char byte, std::size_t n, int stream) override;

 private:
  // Makes the card current for the calling thread; later objects belong to it.
  static int use(int card) {
    ANCIFY_CUDA_CHECK(cudaSetDevice(card));
    return card;
  }
  void use() const { use(card_); }

  int card_;
  std::string name_;
  std::size_t multiprocessors_;
  Stream streams_[kStreams];
};

}  // namespace ancify::cuda
