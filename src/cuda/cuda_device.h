// An NVIDIA GPU as a device; only .cu files include this.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "core/device/device.h"
#include "core/exec/threads.h"
#include "cuda/check.h"
#include "cuda/launch.h"

namespace ancify::cuda {

// A stream of the calling thread's card.
class Stream {
 public:
  Stream() {
    ANCIFY_CUDA_CHECK(cudaGetDevice(&card_));
    ANCIFY_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  // R may collect it on any thread, and in a forked child, where no card may be touched.
  ~Stream() {
    if (in_forked_child()) return;
    cudaSetDevice(card_);
    cudaStreamDestroy(stream_);
    cudaGetLastError();  // so that it is not found again by a later call
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  int card_ = 0;
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

  // How a kernel is launched: for n threads, or as many as the card runs at once.
  struct Launch {
    const char* kernel;  // its name
    std::size_t n;
    int stream;
    std::size_t shared_bytes = 0;
    unsigned threads = 256;  // of a block
  };
  template <class... Parameters, class... Arguments>
  void launch(const Launch& how, void (*kernel)(Parameters...), const Arguments&... arguments) {
    use();
    int each = 0;
    ANCIFY_CUDA_CHECK_ON(name_,
                         cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                             &each, kernel, static_cast<int>(how.threads), how.shared_bytes));
    const std::size_t most = multiprocessors_ * static_cast<std::size_t>(each > 1 ? each : 1);
    const std::size_t blocks = (how.n + how.threads - 1) / how.threads;
    cuda::launch(
        kernel,
        {static_cast<unsigned>(blocks < most ? blocks : most), how.threads, how.shared_bytes},
        streams_[how.stream].get(), arguments...);
    check(cudaGetLastError(), name_ + ": ", how.kernel, __FILE__, __LINE__);
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
  std::size_t multiprocessors_;
  Stream streams_[kStreams];
};

}  // namespace ancify::cuda
