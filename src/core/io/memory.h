// Allocates large blocks of memory, and finds how much memory a process may use.
#pragma once

#include <cstddef>
#include <memory>

namespace ancify {

// Bytes of memory that this process may use: the machine's memory, or a lower limit of the process
// or of its control group (a container, a batch job).
std::size_t memory_size();

// Zero-filled memory. Large blocks take no physical memory until touched, and lie in huge pages if
// the system has them.
class Memory {
 public:
  Memory() = default;
  // Throws std::bad_alloc if the system refuses.
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
