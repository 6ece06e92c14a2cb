// Bytes go up to a device in the order they come, in pieces wherever they belong: a buffer of them
// is on its way while the next is filled.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "core/device/memory_pool.h"

namespace ancify {

// Used by one thread at a time.
class Uploader {
 public:
  // Bytes of a buffer, of which there is one a stream.
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;

  // Has the device for itself. DeviceError where the host lacks memory for the buffers.
  explicit Uploader(std::unique_ptr<Device> device);
  // Nothing is on its way any more.
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Takes n bytes, which after finish() are at `to` in the device's memory. Where pieces overlap
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
    // All that was sent is for addresses between these.
    const char* low = nullptr;
    const char* high = nullptr;
  };

  void send();
  void take_next_buffer();
  // Returns when nothing of a buffer that was sent whole is on its way.
  void await(std::size_t buffer);

  std::unique_ptr<Device> device_;
  MemoryPool pool_;
  std::array<std::unique_ptr<Buffer>, Device::kStreams> buffers_;
  std::size_t now_ = 0;   // the one being filled
  char* next_ = nullptr;  // where what was taken last ends
};

}  // namespace ancify
