// Inflates Zstandard: the text of a file, such as PLINK 2's tables, or frames in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/io/byte_source.h"
#include "core/io/file_window.h"

namespace ancify {

// True if a file begins with a Zstandard frame, or with a skippable frame, as pzstd writes.
inline bool is_zstd(std::string_view bytes) {
  const bool skipped =
      bytes.size() >= 4 && bytes.substr(1, 3) == "\x2a\x4d\x18" && (bytes[0] & 0xf0) == 0x50;
  return bytes.substr(0, 4) == "\x28\xb5\x2f\xfd" || skipped;
}

// Throws FormatError in a build without libzstd.
std::unique_ptr<ByteSource> make_zstd_source(FileWindow window);

// Inflates whole frames.
class ZstdInflater {
 public:
  // Throws InputError in a build without libzstd.
  ZstdInflater();
  ~ZstdInflater();
  ZstdInflater(const ZstdInflater&) = delete;
  ZstdInflater& operator=(const ZstdInflater&) = delete;
  // Inflates into exactly `size` bytes, or throws InputError.
  void inflate(std::string_view frames, char* output, std::size_t size);
  // The inflated size, by the header of the first frame. Throws InputError if it is absent.
  static std::size_t size_of(std::string_view frame);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// The version of libzstd; empty in a build without it.
std::string zstd_version();

}  // namespace ancify
