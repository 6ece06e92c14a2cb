// Allocates a job's device memory, up to its budget.
#pragma once

#include <cstddef>

#include "core/device/memory_pool.h"
#include "core/device/tiles.h"

namespace ancify {

// Failures are DeviceErrors that state the bytes requested so far and the free bytes. `limit` is as
// for memory_budget(); `used` bytes are already allocated.
class Taker {
 public:
  Taker(MemoryPool& pool, std::size_t limit, std::size_t used)
      : pool_(pool), budget_(used + memory_budget(pool, limit, used)), wanted_(used) {}
  std::size_t wanted() const { return wanted_; }

  template <class T>
  DeviceArray<T> take(std::size_t n) {
    wanted_ += n * sizeof(T);
    if (wanted_ > budget_) throw_too_little_memory(pool_, wanted_, budget_);
    DeviceArray<T> array(pool_, n);
    if (array.refused()) throw_too_little_memory(pool_, wanted_, budget_);
    return array;
  }
  // Replaces this array by one of at least n elements and discards its content. No work may be
  // using it.
  template <class T>
  void grow(DeviceArray<T>& array, std::size_t n) {
    wanted_ -= array.size() * sizeof(T);
    array = {};
    array = take<T>(n);
  }
  template <class T>
  DeviceArray<T> take_here(std::size_t n) {
    DeviceArray<T> array(pool_, n, MemoryKind::kHost);
    if (array.refused()) throw_too_little_host_memory(pool_.device(), n * sizeof(T));
    return array;
  }
  template <class T>
  Mirrored<T> take_both(std::size_t n) {
    return {take<T>(n), take_here<T>(n)};
  }

 private:
  MemoryPool& pool_;
  std::size_t budget_;
  std::size_t wanted_;
};

}  // namespace ancify
