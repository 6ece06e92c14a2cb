// A device with memory of its own, as jobs see it. What it computes is each job's own matter.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace ancify {

// The device's own memory, or memory of the host that it copies from and to by itself.
enum class MemoryKind { kDevice, kHost };

// A point in a stream, which is reached when all that was begun there before has ended.
class Event {
 public:
  Event() = default;
  virtual ~Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

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
  // For MemoryPool. Null where there is too little memory.
  virtual void* allocate(std::size_t n, MemoryKind kind) = 0;
  virtual void release(void* memory, MemoryKind kind) noexcept = 0;

  // These begin to copy n elements to the device, from it, or within it; what is copied has to stay
  // until wait().
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
  // Begins to give each byte of n elements of the device's memory this value.
  template <class T>
  void fill(T* to, unsigned char byte, std::size_t n, int stream) {
    static_assert(std::is_trivially_copyable_v<T>);
    begin_fill(to, byte, n * sizeof(T), stream);
  }

  // The point that the stream has come to.
  virtual std::unique_ptr<Event> record(int stream) = 0;
  // What is begun in the stream from now on waits for the event, which may go before it is reached.
  virtual void wait_for(const Event& event, int stream) = 0;
  // Returns when all that was begun in the stream has ended, and throws what failed there.
  virtual void wait(int stream) = 0;
  // Returns when nothing is going on any more, whatever failed.
  virtual void drain() noexcept = 0;

 protected:
  enum class Copy { kUp, kDown, kWithin };

  // Of n bytes
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

}  // namespace ancify
