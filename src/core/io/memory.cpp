#include "core/io/memory.h"

#include <sys/mman.h>

#include <new>

namespace ancify {

Memory::Memory(std::size_t size) : data_(nullptr), size_(size) {
  if (size == 0) return;
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(data, size, MADV_HUGEPAGE);
#endif
  data_ = static_cast<char*>(data);
}

Memory::~Memory() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace ancify
