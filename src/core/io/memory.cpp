// Measures the memory that a process may take, and maps large pieces of it.
#include "core/io/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <string>

namespace ancify {

std::size_t memory_size() {
  auto size = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
              static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    size = std::min<std::size_t>(size, limit.rlim_cur);
  }
  // The limits of control groups, versions 2 and 1, as a container sees its own.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    if (std::size_t most; file >> most) size = std::min(size, most);
  }
  return size;
}

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
