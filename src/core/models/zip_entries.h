// The entries of a zip archive whose files are stored, not compressed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/exec/threads.h"
#include "core/io/file.h"

namespace ancify {

struct ZipEntry {
  std::int64_t offset = 0;  // of its data, from the archive's start
  std::int64_t size = 0;
  std::uint32_t checksum = 0;  // CRC-32
};

// Whether a file begins like a zip archive.
bool is_zip(const InputFile& file);

// FormatError if the archive is damaged or cut, or an entry is compressed or encrypted.
std::map<std::string, ZipEntry> zip_entries(const InputFile& file);

// Reads all entries. FormatError if the checksum of an entry differs.
void check_entries(const InputFile& file, const TaskContext& context);

}  // namespace ancify
