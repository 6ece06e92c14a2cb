// Keeps tiles of packed calls that several threads make and read.
#pragma once

#include <cstdint>
#include <exception>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ancify {

// The tiles used last, up to a number of bytes. Tiles in use stay in memory beyond it.
class TileCache {
 public:
  using Bytes = std::vector<std::uint8_t>;
  using Tile = std::shared_future<std::shared_ptr<const Bytes>>;

  explicit TileCache(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  // The tile of this number. If it is not kept, make() is called on this thread. If another thread
  // makes it, the result is not ready yet. An exception of make() comes from the result, and the
  // next call makes the tile again.
  template <class Make>
  Tile get(std::int64_t number, Make make) {
    std::promise<std::shared_ptr<const Bytes>> promise;
    Tile tile = promise.get_future().share();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = entries_.find(number);
      if (found != entries_.end()) {
        order_.splice(order_.begin(), order_, found->second.place);
        return found->second.tile;
      }
      order_.push_front(number);
      entries_[number] = {tile, order_.begin(), 0};
    }
    try {
      auto made = std::make_shared<const Bytes>(make());
      const auto size = static_cast<std::int64_t>(made->size());
      promise.set_value(std::move(made));
      note_size(number, size);
    } catch (...) {
      promise.set_exception(std::current_exception());
      drop(number);
    }
    return tile;
  }

 private:
  struct Entry {
    Tile tile;
    std::list<std::int64_t>::iterator place;
    std::int64_t bytes;  // 0 until the tile is ready
  };

  void note_size(std::int64_t number, std::int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.at(number).bytes = bytes;
    bytes_ += bytes;
    auto oldest = order_.end();
    while (bytes_ > most_bytes_ && oldest != order_.begin()) {
      --oldest;
      const auto entry = entries_.find(*oldest);
      if (entry->second.bytes == 0 || *oldest == number) continue;
      bytes_ -= entry->second.bytes;
      entries_.erase(entry);
      oldest = order_.erase(oldest);
    }
  }

  void drop(std::int64_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = entries_.find(number);
    order_.erase(entry->second.place);
    entries_.erase(entry);
  }

  std::mutex mutex_;
  std::map<std::int64_t, Entry> entries_;
  std::list<std::int64_t> order_;  // the tile used last is first
  std::int64_t bytes_ = 0;
  std::int64_t most_bytes_;
};

}  // namespace ancify
