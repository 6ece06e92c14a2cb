// A device with memory of its own, as jobs see it. What it computes is each job's own matter.
#pragma once

#include <cstddef>
#include <string>

namespace ancify {

// The device's own memory, or memory of the host that it copies from and to by itself.
enum class MemoryKind { kDevice, kHost };

// Used by one thread at a time. What fails is a DeviceError.
class Device {
 public:
  // Work in a stream is done in order, and beside the other stream's.
  static constexpr int kStreams = 2;

  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // As people know it: "cuda:0 (NVIDIA H200)".
  virtual std::string name() const = 0;
  // Bytes of its own memory that nobody has yet.
  virtual std::size_t free_memory() = 0;
  // Null where there is too little memory.
  virtual void* allocate(std::size_t n, MemoryKind kind) = 0;
  virtual void release(void* memory, MemoryKind kind) noexcept = 0;
  // These begin to copy n bytes; what is copied has to stay until wait().
  virtual void upload(void* to, const void* from, std::size_t n, int stream) = 0;
  virtual void download(void* to, const void* from, std::size_t n, int stream) = 0;
  // Returns when all that was begun in the stream has ended, and throws what failed there.
  virtual void wait(int stream) = 0;
  // Returns when nothing is going on any more, whatever failed.
  virtual void drain() noexcept = 0;
};

// Takes steps on a device, and where they fail lets nothing go on there: what is copied from or to
// is about to go.
template <class Steps>
void drained_on_failure(Device& device, Steps steps) {
  try {
    steps();
  } catch (...) {
    device.drain();
    throw;
  }
}

// Memory that is released at the end of its scope.
class DeviceMemory {
 public:
  DeviceMemory(Device& device, std::size_t n, MemoryKind kind)
      : device_(device), kind_(kind), data_(device.allocate(n, kind)) {}
  ~DeviceMemory() {
    if (data_ != nullptr) device_.release(data_, kind_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Null where there was too little memory.
  char* data() const { return static_cast<char*>(data_); }

 private:
  Device& device_;
  MemoryKind kind_;
  void* data_;
};

}  // namespace ancify
