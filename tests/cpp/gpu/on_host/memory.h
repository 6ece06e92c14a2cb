// Memory between zones that nobody may touch, as the stand-in for CUDA gives it out.
#pragma once

#include <cstddef>
#include <string>

namespace ancify::on_host {

// Filled with bytes that are no zeros, which a card's memory need not be either.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t n);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  char* data() const { return all_ + kZone; }
  std::size_t size() const { return size_; }
  bool contains(const void* place) const;
  // Says where the zones were written to, once. AddressSanitizer knows that, and reads too, as soon
  // as it happens.
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
// Null where there is too little.
void* take_memory(Place place, std::size_t n);
// False where it was not taken, or given back already.
bool give_back_memory(Place place, void* memory);

// Copies, once both ends are found to be where they should.
void copy(void* to, Place to_place, const void* from, Place from_place, std::size_t n);
// Fills device memory, once it is found to be that.
void fill(void* to, int byte, std::size_t n);
// Says what kernels wrote beside their memory.
void check_device_memory();
// Says what was never given back.
void report_memory_left();

}  // namespace ancify::on_host
