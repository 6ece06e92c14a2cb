// Large pieces of memory, and how much of it a process may take.
#pragma once

#include <cstddef>

namespace ancify {

// Bytes of memory that this process may take: the machine's memory, or a lower limit. A control
// group (a container, a batch job) or the process itself may have one.
std::size_t memory_size();

// Memory that takes no room until it is touched, in huge pages if the system has them.
class Memory {
 public:
  // std::bad_alloc if the system refuses.
  explicit Memory(std::size_t size);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();
  char* data() { return data_; }
  const char* data() const { return data_; }

 private:
  char* data_;
  std::size_t size_;
};

}  // namespace ancify
