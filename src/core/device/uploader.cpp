// Copies pieces of data to a device through buffers that take turns.
#include "core/device/uploader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/device/tiles.h"

namespace ancify {

Uploader::Uploader(std::unique_ptr<Device> device) : device_(std::move(device)), pool_(*device_) {
  for (auto& buffer : buffers_) {
    buffer = std::make_unique<Buffer>(pool_);
    if (!buffer->memory.refused()) continue;
    throw_too_little_host_memory(*device_, kBuffer);
  }
}

Uploader::~Uploader() { device_->drain(); }

void Uploader::write(char* to, const char* from, std::size_t n) {
  if (to != next_) send();
  while (n > 0) {
    if (buffers_[now_]->filled == kBuffer) take_next_buffer();
    Buffer& buffer = *buffers_[now_];
    const std::size_t here = std::min(n, kBuffer - buffer.filled);
    std::memcpy(buffer.memory.data() + buffer.filled, from, here);
    buffer.filled += here;
    from += here;
    n -= here;
    next_ = to += here;
  }
}

void Uploader::finish() {
  send();
  for (std::size_t i = 0; i < buffers_.size(); ++i) await(i);
}

// Sends the bytes of the buffer that were not sent yet. Their target ends at next_.
void Uploader::send() {
  Buffer& buffer = *buffers_[now_];
  const std::size_t n = buffer.filled - buffer.sent;
  if (n == 0) return;
  char* const to = next_ - n;
  // Copies in one stream keep their order, but copies in two streams do not. So this waits for
  // earlier copies to overlapping addresses.
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (i == now_ || !buffers_[i]->overlaps(to, next_)) continue;
    device_->wait_for(*device_->record(static_cast<int>(i)), static_cast<int>(now_));
  }
  device_->upload(to, buffer.memory.data() + buffer.sent, n, static_cast<int>(now_));
  buffer.low = buffer.sent == 0 ? to : std::min<const char*>(buffer.low, to);
  buffer.high = buffer.sent == 0 ? next_ : std::max<const char*>(buffer.high, next_);
  buffer.sent = buffer.filled;
}

void Uploader::take_next_buffer() {
  send();
  now_ = (now_ + 1) % buffers_.size();
  await(now_);
}

void Uploader::await(std::size_t buffer) {
  device_->wait(static_cast<int>(buffer));
  Buffer& ended = *buffers_[buffer];
  ended.filled = ended.sent = 0;
  ended.low = ended.high = nullptr;
}

}  // namespace ancify
