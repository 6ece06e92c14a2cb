// An NVIDIA GPU as a device; only what nvcc compiles includes this.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "core/device/device.h"
#include "cuda/check.h"

namespace ancify::cuda {

// A stream of the calling thread's card.
class Stream {
 public:
  Stream() { ANCIFY_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class CudaDevice : public Device {
 public:
  // `number`: as messages name it. Several devices may be of one card.
  CudaDevice(int number, int card);

  std::string name() const override { return name_; }
  std::size_t free_memory() override;
  void* allocate(std::size_t n, MemoryKind kind) override;
  void release(void* memory, MemoryKind kind) noexcept override;
  void upload(void* to, const void* from, std::size_t n, int stream) override;
  void download(void* to, const void* from, std::size_t n, int stream) override;
  void wait(int stream) override;
  void drain() noexcept override;

  // Launches kernel(blocks, threads, stream) for n threads, or as many as keep the card busy, in
  // blocks of `threads`, which divides kThreads.
  static constexpr unsigned kThreads = 256;
  template <class Kernel>
  void launch(std::size_t n, int stream, Kernel kernel, unsigned threads = kThreads) {
    use();
    const std::size_t blocks = (n + threads - 1) / threads;
    const std::size_t most = most_blocks_ * (kThreads / threads);
    kernel(static_cast<unsigned>(blocks < most ? blocks : most), threads, streams_[stream].get());
    ANCIFY_CUDA_CHECK(cudaGetLastError());
  }

 private:
  // Makes the card the calling thread's; what is made after the call belongs to it.
  static int use(int card) {
    ANCIFY_CUDA_CHECK(cudaSetDevice(card));
    return card;
  }
  void use() const { use(card_); }

  int card_;
  std::string name_;
  std::size_t most_blocks_;  // of kThreads
  Stream streams_[kStreams];
};

}  // namespace ancify::cuda
