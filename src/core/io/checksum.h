// CRC-32 checksums, as in gzip, computed by the library that inflates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/exec/threads.h"
#include "core/io/file.h"

namespace ancify {

// The checksum of a text extended by n bytes. `checksum` is the checksum of the text so far, 0 if
// the text is empty.
std::uint32_t extend_checksum(std::uint32_t checksum, const char* data, std::size_t n);

// The checksum of two concatenated texts, from their checksums. The second text has n bytes.
std::uint32_t join_checksums(std::uint32_t first, std::uint32_t second, std::int64_t n);

struct FileChecksum {
  std::int64_t size = 0;
  std::uint32_t checksum = 0;
  std::string identity;  // InputFile::identity() of this file
  // True if two files have the same content.
  bool operator==(const FileChecksum& other) const {
    return size == other.size && checksum == other.checksum;
  }
};

// The checksum of a whole file. Throws FileError if it cannot be read, Interrupted if the task is
// stopped.
FileChecksum checksum_of_file(const std::string& path, const TaskContext& context);

// The checksum of 16 pieces of 64 KB, spread from the start to the end of the file. A file of up to
// 1 MB is read whole.
std::uint32_t checksum_of_sample(const InputFile& file);

}  // namespace ancify
