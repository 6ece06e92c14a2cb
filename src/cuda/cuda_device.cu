// Implements Device for an NVIDIA card: memory, copies, streams, events.
#include "cuda/cuda_device.h"

namespace ancify::cuda {

namespace {

cudaDeviceProp properties_of(int card) {
  cudaDeviceProp properties;
  ANCIFY_CUDA_CHECK(cudaGetDeviceProperties(&properties, card));
  return properties;
}

}  // namespace

CudaDevice::CudaDevice(int number, int card) : card_(use(card)) {
  const cudaDeviceProp properties = properties_of(card);
  name_ = "cuda:" + std::to_string(number) + " (" + properties.name + ")";
  multiprocessors_ = static_cast<std::size_t>(properties.multiProcessorCount);
}

std::size_t CudaDevice::free_memory() {
  use();
  std::size_t free = 0;
  std::size_t all = 0;
  ANCIFY_CUDA_CHECK_ON(name_, cudaMemGetInfo(&free, &all));
  return free;
}

void* CudaDevice::allocate(std::size_t n, MemoryKind kind) {
  use();
  void* memory = nullptr;
  const cudaError_t status =
      kind == MemoryKind::kDevice ? cudaMalloc(&memory, n) : cudaMallocHost(&memory, n);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // so that no later call reports it again
    return nullptr;
  }
  check(status, name_ + ": ", kind == MemoryKind::kDevice ? "cudaMalloc" : "cudaMallocHost",
        __FILE__, __LINE__);
  return memory;
}

void CudaDevice::release(void* memory, MemoryKind kind) noexcept {
  if (in_forked_child()) return;  // the memory belongs to the parent
  cudaSetDevice(card_);
  if (kind == MemoryKind::kDevice) {
    cudaFree(memory);
  } else {
    cudaFreeHost(memory);
  }
  cudaGetLastError();
}

void CudaDevice::begin_copy_of_bytes(Copy way, void* to, const void* from, std::size_t n,
                                     int stream) {
  use();
  const auto kind = way == Copy::kUp     ? cudaMemcpyHostToDevice
                    : way == Copy::kDown ? cudaMemcpyDeviceToHost
                                         : cudaMemcpyDeviceToDevice;
  ANCIFY_CUDA_CHECK_ON(name_, cudaMemcpyAsync(to, from, n, kind, streams_[stream].get()));
}

void CudaDevice::begin_fill(void* to, unsigned char byte, std::size_t n, int stream) {
  use();
  ANCIFY_CUDA_CHECK_ON(name_, cudaMemsetAsync(to, byte, n, streams_[stream].get()));
}

std::unique_ptr<Event> CudaDevice::record(int stream) {
  use();
  auto event = std::make_unique<CudaEvent>();
  ANCIFY_CUDA_CHECK_ON(name_, cudaEventRecord(event->get(), streams_[stream].get()));
  return event;
}

void CudaDevice::wait_for(const Event& event, int stream) {
  use();
  const auto& recorded = static_cast<const CudaEvent&>(event);
  ANCIFY_CUDA_CHECK_ON(name_, cudaStreamWaitEvent(streams_[stream].get(), recorded.get(), 0));
}

void CudaDevice::wait(int stream) {
  use();
  ANCIFY_CUDA_CHECK_ON(name_, cudaStreamSynchronize(streams_[stream].get()));
}

void CudaDevice::drain() noexcept {
  if (in_forked_child()) return;
  cudaSetDevice(card_);
  for (const auto& stream : streams_) cudaStreamSynchronize(stream.get());
  cudaGetLastError();
}

}  // namespace ancify::cuda
