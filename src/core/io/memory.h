// Large pieces of memory.
#pragma once

#include <cstddef>

namespace ancify {

// Bytes of memory that this process may take: what the machine has, or where that is less, what a
// control group (a container, a batch job) or the process's own limit leaves of it.
std::size_t memory_size();

// Memory that costs nothing until it is touched, in huge pages where the system has them.
class Memory {
 public:
  // std::bad_alloc where the system refuses.
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
