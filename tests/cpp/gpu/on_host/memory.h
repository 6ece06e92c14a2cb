// Memory of the stand-in for CUDA, between guard zones that nobody may touch.
#pragma once

#include <cstddef>
#include <string>

namespace ancify::on_host {

// Filled with bytes other than 0, as a card's memory need not be 0 either.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t n);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  char* data() const { return all_ + kZone; }
  std::size_t size() const { return size_; }
  bool contains(const void* place) const;
  // Reports writes to the zones, once. AddressSanitizer finds such writes, and reads too, at once.
  void check(const std::string& what);

 private:
  static constexpr std::size_t kZone = 1024;

  void close_zones();

  std::size_t size_;
  char* all_;
};

enum class Place { kDevice, kHost };

std::size_t all_device_memory();
std::size_t free_device_memory();
// Allocates n bytes; null if there is too little memory.
void* take_memory(Place place, std::size_t n);
// Releases memory; false if it was never allocated, or already released.
bool give_back_memory(Place place, void* memory);

// Copies if both ends are in the right memory.
void copy(void* to, Place to_place, const void* from, Place from_place, std::size_t n);
// Fills memory if it is device memory.
void fill(void* to, int byte, std::size_t n);
// Reports writes of kernels beside their memory.
void check_device_memory();
// Reports memory that was never released.
void report_memory_left();

}  // namespace ancify::on_host
