// A device's memory, taken in arrays of any type; what a job gives back it may take again without
// the device's driver, which would wait for all that goes on there.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/device/device.h"

namespace ancify {

// Used by one thread at a time, as its device is. All that was taken comes back before it goes.
class MemoryPool {
 public:
  struct Piece {
    void* data = nullptr;  // null where there was too little memory
    std::size_t size = 0;  // bytes
  };

  explicit MemoryPool(Device& device) : device_(device) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  Device& device() const { return device_; }
  // Bytes of the device's own memory that may be taken.
  std::size_t free_memory();
  // At least n bytes, with anything in them.
  Piece take(std::size_t n, MemoryKind kind);
  // Nothing that goes on may use it any more.
  void give_back(const Piece& piece, MemoryKind kind) noexcept;
  // What lies idle goes back to the device.
  void release_idle() noexcept;

 private:
  struct Pieces {
    std::vector<Piece> idle;
    std::size_t idle_bytes = 0;
    std::size_t taken = 0;
    std::size_t taken_bytes = 0;
    std::size_t most_taken = 0;  // bytes at once
  };

  Pieces& of(MemoryKind kind) { return pieces_[static_cast<std::size_t>(kind)]; }
  // Those of at most n bytes and an eighth; none for no data.
  static Piece remove_fitting(Pieces& pieces, std::size_t n);
  // Until so many bytes are idle at the most.
  void release_idle(MemoryKind kind, std::size_t most) noexcept;

  bool has_idle() const;

  Device& device_;
  std::array<Pieces, 2> pieces_;
};

// n elements, given back at the end of their scope.
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

  // Where there was too little memory.
  bool refused() const { return size_ > 0 && piece_.data == nullptr; }
  T* data() const { return static_cast<T*>(piece_.data); }
  std::size_t size() const { return size_; }

 private:
  MemoryPool* pool_ = nullptr;
  MemoryKind kind_ = MemoryKind::kDevice;
  std::size_t size_ = 0;
  MemoryPool::Piece piece_;
};

}  // namespace ancify
