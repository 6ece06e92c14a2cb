// Large pieces of memory, and how much of it a process may take.
#pragma once

#include <cstddef>
#include <memory>

namespace ancify {

// Bytes of memory that this process may take: the machine's memory, or a lower limit. A control
// group (a container, a batch job) or the process itself may have one.
std::size_t memory_size();

// Zeros. Large pieces take no room until they are touched, and are in huge pages if the system has
// them.
class Memory {
 public:
  Memory() = default;
  // std::bad_alloc if the system refuses.
  explicit Memory(std::size_t size);
  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }

 private:
  struct Free {
    std::size_t mapped;  // bytes; 0 if the memory comes from calloc()
    void operator()(char* data) const;
  };

  std::unique_ptr<char[], Free> data_{nullptr, Free{0}};
};

}  // namespace ancify
