// CRC-32 as gzip has it, by the library that inflates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/exec/threads.h"
#include "core/io/file.h"

namespace ancify {

// Of a text that begins with what has this checksum (0: nothing) and goes on with n bytes.
std::uint32_t extend_checksum(std::uint32_t checksum, const char* data, std::size_t n);

// Of two texts one behind the other, the second of n bytes.
std::uint32_t join_checksums(std::uint32_t first, std::uint32_t second, std::int64_t n);

struct FileChecksum {
  std::int64_t size = 0;
  std::uint32_t checksum = 0;
  std::string identity;  // InputFile::identity() of the file that has these
  // Whether two files hold the same.
  bool operator==(const FileChecksum& other) const {
    return size == other.size && checksum == other.checksum;
  }
};

// Of a whole file; FileError if it can't be read.
FileChecksum checksum_of_file(const std::string& path, const TaskContext& context);

// Of pieces of 64 KB, the first, the last and some between; of all of a file up to 1 MB.
std::uint32_t checksum_of_sample(const InputFile& file);

}  // namespace ancify
