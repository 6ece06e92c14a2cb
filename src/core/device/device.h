// The interface of a compute device with its own memory. It is independent of a job's computation.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace ancify {

// The device's own memory, or host memory that the device copies from and to directly.
enum class MemoryKind { kDevice, kHost };

// A point in a stream, reached when all earlier work in the stream has ended.
class Event {
 public:
  Event() = default;
  virtual ~Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

// One thread at a time may use a device. Failures are DeviceErrors.
class Device {
 public:
  // Work in one stream runs in order. The two streams run concurrently.
  static constexpr int kStreams = 2;

  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // The name for messages: "cuda:0 (NVIDIA H200)".
  virtual std::string name() const = 0;
  // Free bytes of the device's own memory.
  virtual std::size_t free_memory() = 0;
  // For MemoryPool. Null if memory is insufficient.
  virtual void* allocate(std::size_t n, MemoryKind kind) = 0;
  virtual void release(void* memory, MemoryKind kind) noexcept = 0;

  // These functions start to copy n elements to the device, from it, or within it. Source and
  // destination must stay valid until wait().
  template <class T>
  void upload(T* to, const T* from, std::size_t n, int stream) {
    begin_copy<T>(Copy::kUp, to, from, n, stream);
  }
  template <class T>
  void download(T* to, const T* from, std::size_t n, int stream) {
    begin_copy<T>(Copy::kDown, to, from, n, stream);
  }
  template <class T>
  void copy(T* to, const T* from, std::size_t n, int stream) {
    begin_copy<T>(Copy::kWithin, to, from, n, stream);
  }
  // Starts to set each byte of n elements in device memory to `byte`.
  template <class T>
  void fill(T* to, unsigned char byte, std::size_t n, int stream) {
    static_assert(std::is_trivially_copyable_v<T>);
    begin_fill(to, byte, n * sizeof(T), stream);
  }

  // Records the current end of the stream.
  virtual std::unique_ptr<Event> record(int stream) = 0;
  // Later work in the stream waits for the event. The event may be destroyed before it is reached.
  virtual void wait_for(const Event& event, int stream) = 0;
  // Waits until all work in the stream has ended. Throws DeviceError if any of it failed.
  virtual void wait(int stream) = 0;
  // Waits until the device is idle, even after failures.
  virtual void drain() noexcept = 0;

 protected:
  enum class Copy { kUp, kDown, kWithin };

  // These functions start to copy or fill n bytes.
  virtual void begin_copy_of_bytes(Copy way, void* to, const void* from, std::size_t n,
                                   int stream) = 0;
  virtual void begin_fill(void* to, unsigned char byte, std::size_t n, int stream) = 0;

 private:
  template <class T>
  void begin_copy(Copy way, T* to, const T* from, std::size_t n, int stream) {
    static_assert(std::is_trivially_copyable_v<T>);
    begin_copy_of_bytes(way, to, from, n * sizeof(T), stream);
  }
};

// Calls steps(). If it throws, waits until the device is idle before rethrowing, as memory in use
// by running copies is about to be freed.
template <class Steps>
void drained_on_failure(Device& device, Steps steps) {
  try {
    steps();
  } catch (...) {
    device.drain();
    throw;
  }
}

}  // namespace ancify
