// The stand-in card's memory, with guard zones around each piece.
#include "memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "problems.h"
#include "sanitizer.h"

namespace ancify::on_host {

namespace {

constexpr std::size_t kAlignment = 256;  // as in cudaMalloc()
constexpr char kUnset = '\xff';
constexpr char kGuard = '\x5a';
// The memory of the only card.
constexpr std::size_t kDeviceMemory = std::size_t{1} << 30;

bool holds_only(const char* from, std::size_t n, char value) {
  return std::all_of(from, from + n, [&](char c) { return c == value; });
}

std::string name_of(Place place) { return place == Place::kDevice ? "device" : "host"; }

class Memories {
 public:
  void* take(Place place, std::size_t n) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (place == Place::kDevice) {
      if (n > kDeviceMemory - used_) return nullptr;
      used_ += n;
    }
    auto memory = std::make_unique<GuardedMemory>(n);
    char* const data = memory->data();
    of(place).emplace(data, std::move(memory));
    return data;
  }

  bool give_back(Place place, void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = of(place).find(static_cast<char*>(data));
    if (found == of(place).end()) {
      problem(name_of(place) + " memory is given back that was not taken");
      return false;
    }
    found->second->check(name_of(place));
    if (place == Place::kDevice) used_ -= found->second->size();
    of(place).erase(found);
    return true;
  }

  std::size_t free() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return kDeviceMemory - used_;
  }

  void check_device() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [data, memory] : device_) memory->check(name_of(Place::kDevice));
  }

  // True if one end of a copy is in memory of the right kind, and within one piece.
  bool check_end(const void* start, std::size_t n, Place place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const GuardedMemory* const device = containing(device_, start);
    if ((place == Place::kDevice) != (device != nullptr)) {
      problem("a copy's or fill's " + name_of(place) + " end is not " + name_of(place) + " memory");
      return false;
    }
    const GuardedMemory* const memory = device != nullptr ? device : containing(host_, start);
    if (memory == nullptr) return true;  // host memory that was not allocated here
    const auto* const end = memory->data() + memory->size();
    if (n <= static_cast<std::size_t>(end - static_cast<const char*>(start))) return true;
    problem("a copy or fill goes beyond " + name_of(place) + " memory");
    return false;
  }

  void report_left() {
    for (const Place place : {Place::kDevice, Place::kHost}) {
      if (of(place).empty()) continue;
      problem(std::to_string(of(place).size()) + " pieces of " + name_of(place) +
              " memory were not given back");
    }
  }

 private:
  using Pieces = std::map<char*, std::unique_ptr<GuardedMemory>>;

  static const GuardedMemory* containing(const Pieces& pieces, const void* place) {
    auto next = pieces.upper_bound(static_cast<char*>(const_cast<void*>(place)));
    if (next == pieces.begin()) return nullptr;
    const GuardedMemory& before = *(--next)->second;
    return before.contains(place) ? &before : nullptr;
  }

  Pieces& of(Place place) { return place == Place::kDevice ? device_ : host_; }

  std::mutex mutex_;
  std::size_t used_ = 0;  // bytes of the card's memory
  Pieces device_;
  Pieces host_;
};

// Never destroyed, as it is checked at the process's end.
Memories& memories() {
  static auto* const all = new Memories;
  return *all;
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t n)
    : size_(n),
      all_(static_cast<char*>(::operator new(n + 2 * kZone, std::align_val_t(kAlignment)))) {
  std::memset(data(), kUnset, size_);
  close_zones();
}

GuardedMemory::~GuardedMemory() {
  open_to_access(all_, size_ + 2 * kZone);
  ::operator delete(all_, std::align_val_t(kAlignment));
}

void GuardedMemory::close_zones() {
  std::memset(all_, kGuard, kZone);
  std::memset(data() + size_, kGuard, kZone);
  close_to_access(all_, kZone);
  close_to_access(data() + size_, kZone);
}

bool GuardedMemory::contains(const void* place) const {
  const auto* const at = static_cast<const char*>(place);
  return at >= data() && at < data() + std::max<std::size_t>(size_, 1);
}

void GuardedMemory::check(const std::string& what) {
  if (kClosesMemory ||
      (holds_only(all_, kZone, kGuard) && holds_only(data() + size_, kZone, kGuard)))
    return;
  problem("a kernel wrote beside " + std::to_string(size_) + " bytes of " + what + " memory");
  close_zones();
}

std::size_t all_device_memory() { return kDeviceMemory; }
std::size_t free_device_memory() { return memories().free(); }
void* take_memory(Place place, std::size_t n) { return memories().take(place, n); }
bool give_back_memory(Place place, void* memory) { return memories().give_back(place, memory); }
void check_device_memory() { memories().check_device(); }
void report_memory_left() { memories().report_left(); }

void copy(void* to, Place to_place, const void* from, Place from_place, std::size_t n) {
  if (n == 0) return;
  const bool right = memories().check_end(to, n, to_place);
  if (memories().check_end(from, n, from_place) && right) std::memcpy(to, from, n);
}

void fill(void* to, int byte, std::size_t n) {
  if (n > 0 && memories().check_end(to, n, Place::kDevice)) std::memset(to, byte, n);
}

}  // namespace ancify::on_host
