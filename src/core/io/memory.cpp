// Determines the memory that a process may use, and maps large blocks of it.
#include "core/io/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
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
  // The limits of control groups, versions 2 and 1, as seen inside a container.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    if (std::size_t most; file >> most) size = std::min(size, most);
  }
  return size;
}

namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;
// Smaller blocks come from calloc(), as a genome may have very many scaffolds.
constexpr std::size_t kLeastMapped = std::size_t{1} << 17;

char* mapped(std::size_t size) {
  void* const data =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(data);
}

// The system gives a huge page at once only to memory aligned to it. So an extra page is mapped,
// and the unaligned ends are unmapped.
char* mapped_huge(std::size_t size) {
  char* const all = mapped(size + kHugePage);
  const std::size_t front = kHugePage - reinterpret_cast<std::uintptr_t>(all) % kHugePage;
  char* const data = all + front;
  munmap(all, front);
  if (front < kHugePage) munmap(data + size, kHugePage - front);
#ifdef MADV_HUGEPAGE
  madvise(data, size, MADV_HUGEPAGE);
#endif
  return data;
}

std::size_t whole_pages(std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

Memory::Memory(std::size_t size) {
  if (size >= kLeastMapped) {
    const std::size_t pages = whole_pages(size);
    data_ = {pages < kHugePage ? mapped(pages) : mapped_huge(pages), Free{pages}};
  } else if (size > 0) {
    data_ = {static_cast<char*>(std::calloc(size, 1)), Free{0}};
    if (data_ == nullptr) throw std::bad_alloc();
  }
}

void Memory::Free::operator()(char* data) const {
  if (mapped > 0) {
    munmap(data, mapped);
  } else {
    std::free(data);
  }
}

}  // namespace ancify
