// The entries of a zip archive whose files are stored, not compressed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/exec/threads.h"
#include "core/io/file.h"

namespace ancify {

struct ZipEntry {
  std::int64_t offset = 0;  // of its bytes, from the archive's start
  std::int64_t size = 0;
  std::uint32_t checksum = 0;  // CRC-32
};

// Whether a file begins as a zip archive does.
bool is_zip(const InputFile& file);

// FormatError if the archive is damaged or cut, or an entry is compressed or encrypted.
std::map<std::string, ZipEntry> zip_entries(const InputFile& file);

// Reads all entries. FormatError if the bytes of one have another checksum.
void check_entries(const InputFile& file, const TaskContext& context);

}  // namespace ancify
