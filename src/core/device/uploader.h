// Copies pieces of data to any addresses in a device's memory. One buffer is copied while the next
// is filled.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "core/device/memory_pool.h"

namespace ancify {

// One thread at a time may use it.
class Uploader {
 public:
  // Bytes per buffer. Each stream has one buffer.
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;

  // Owns the device. DeviceError if the host lacks memory for the buffers.
  explicit Uploader(std::unique_ptr<Device> device);
  // Waits until all copies have ended.
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Takes n bytes. After finish() they are at `to` in the device's memory. Where pieces overlap,
  // the later one wins.
  void write(char* to, const char* from, std::size_t n);
  void finish();

 private:
  struct Buffer {
    explicit Buffer(MemoryPool& pool) : memory(pool, kBuffer, MemoryKind::kHost) {}
    bool overlaps(const char* begin, const char* end) const { return begin < high && low < end; }
    DeviceArray<char> memory;
    std::size_t filled = 0;
    std::size_t sent = 0;
    // The range of target addresses of all bytes sent from this buffer.
    const char* low = nullptr;
    const char* high = nullptr;
  };

  void send();
  void take_next_buffer();
  // Waits until all copies from this buffer have ended, then empties it. All of it must have been
  // sent.
  void await(std::size_t buffer);

  std::unique_ptr<Device> device_;
  MemoryPool pool_;
  std::array<std::unique_ptr<Buffer>, Device::kStreams> buffers_;
  std::size_t now_ = 0;   // the buffer being filled
  char* next_ = nullptr;  // target address behind the last byte taken
};

}  // namespace ancify
