// The entries of a zip archive.
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
  std::int64_t packed = 0;  // bytes in the archive; as many as `size` if they are not compressed
  bool is_deflated = false;
  std::uint32_t checksum = 0;  // CRC-32
};

// True if a file begins like a zip archive.
bool is_zip(const InputFile& file);

enum class ZipPacking { kStored, kStoredOrDeflated };

// FormatError if the archive is damaged or cut, or an entry has another packing or is encrypted.
std::map<std::string, ZipEntry> zip_entries(const InputFile& file,
                                            ZipPacking packing = ZipPacking::kStored);

// The bytes of an entry. FormatError if it is damaged, or compresses so well that it was made to
// exhaust memory.
std::string read_entry(const InputFile& file, const std::string& name, const ZipEntry& entry);

// Reads all entries. FormatError if the checksum of an entry differs.
void check_entries(const InputFile& file, const TaskContext& context);

}  // namespace ancify
