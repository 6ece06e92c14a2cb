// A file without a name, for data that do not fit in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/io/file.h"

namespace ancify {

// It has no name in its folder, so it vanishes with its process, however the process ends. Any
// number of threads may use it at once.
class ScratchFile {
 public:
  // Throws FileError if the folder is not writable.
  explicit ScratchFile(std::string folder);
  // Appends n bytes and returns their offset. Throws FileError if the disk is full.
  std::int64_t append(const char* data, std::size_t n);
  // Fills `buffer` with n bytes from `offset` on.
  void read_at(char* buffer, std::size_t n, std::int64_t offset) const;

 private:
  std::string folder_;
  FileDescriptor fd_;
  std::atomic<std::int64_t> size_{0};
};

}  // namespace ancify
