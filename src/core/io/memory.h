// Large pieces of memory.
#pragma once

#include <cstddef>

namespace ancify {

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
