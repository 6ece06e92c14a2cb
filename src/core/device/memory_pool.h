// A job's pool of device memory. Reuse avoids calls to the device's driver, which would wait for
// all running work.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/device/device.h"

namespace ancify {

// Only one thread at a time may use a pool, as with its device. Return all memory before the pool
// is destroyed.
class MemoryPool {
 public:
  struct Piece {
    void* data = nullptr;  // null if memory is insufficient
    std::size_t size = 0;  // bytes
  };

  explicit MemoryPool(Device& device) : device_(device) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  Device& device() const { return device_; }
  // Bytes of device memory available to take(), including idle bytes.
  std::size_t free_memory();
  // Takes at least n uninitialised bytes.
  Piece take(std::size_t n, MemoryKind kind);
  // No running work may still be using the piece.
  void give_back(const Piece& piece, MemoryKind kind) noexcept;
  bool has_idle() const;
  // Returns idle memory to the device.
  void release_idle() noexcept;

 private:
  struct Pieces {
    std::vector<Piece> idle;
    std::size_t idle_bytes = 0;
    std::size_t taken = 0;
    std::size_t taken_bytes = 0;
    std::size_t most_taken = 0;  // the most bytes taken at once
  };

  Pieces& of(MemoryKind kind) { return pieces_[static_cast<std::size_t>(kind)]; }
  // Removes the smallest idle piece of n to n + n / 8 bytes; its data are null if none fits.
  static Piece remove_fitting(Pieces& pieces, std::size_t n);
  // Returns idle memory to the device until at most `most` bytes are idle.
  void release_idle(MemoryKind kind, std::size_t most) noexcept;

  Device& device_;
  std::array<Pieces, 2> pieces_;
};

// An array of n elements, returned at the end of its scope.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(MemoryPool& pool, std::size_t n, MemoryKind kind = MemoryKind::kDevice)
      : pool_(&pool), kind_(kind), size_(n) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (n > 0) piece_ = pool.take(n * sizeof(T), kind);
  }
  ~DeviceArray() {
    if (piece_.data != nullptr) pool_->give_back(piece_, kind_);
  }
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(kind_, other.kind_);
    std::swap(size_, other.size_);
    std::swap(piece_, other.piece_);
    return *this;
  }

  // True if memory was insufficient.
  bool refused() const { return size_ > 0 && piece_.data == nullptr; }
  T* data() const { return static_cast<T*>(piece_.data); }
  std::size_t size() const { return size_; }

 private:
  MemoryPool* pool_ = nullptr;
  MemoryKind kind_ = MemoryKind::kDevice;
  std::size_t size_ = 0;
  MemoryPool::Piece piece_;
};

// An array on the device, and its counterpart on the host for copies in either direction.
template <class T>
struct Mirrored {
  Mirrored() = default;
  Mirrored(MemoryPool& pool, std::size_t n) : there(pool, n), here(pool, n, MemoryKind::kHost) {}
  Mirrored(DeviceArray<T> there, DeviceArray<T> here)
      : there(std::move(there)), here(std::move(here)) {}
  DeviceArray<T> there;
  DeviceArray<T> here;
};

}  // namespace ancify
