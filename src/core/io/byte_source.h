// Reads the text of a plain, gzip, bgzip or Zstandard file, distinguished by content. A gzip file
// may have several members. Lines end in LF, or throughout a file in CR alone, which becomes LF. A
// byte order mark is skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/exec/threads.h"

namespace ancify {

// A file's text may take kFreeText bytes of memory, or kMostInflation times the bytes of the file
// read so far if this is more. Tables and sequences compress at most about 30-fold. Text that
// compresses far better was made to exhaust memory.
constexpr std::int64_t kFreeText = std::int64_t{1} << 26;
constexpr std::int64_t kMostInflation = 64;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Writes up to n bytes of text to `out` and returns their number, which is 0 only at the end of
  // the text. Throws FormatError for damaged compressed data, and at the end FileError if the file
  // has changed meanwhile.
  virtual std::size_t read(char* out, std::size_t n) = 0;
  // Bytes of the file consumed so far.
  virtual std::int64_t consumed() const = 0;
  virtual const std::string& path() const = 0;
  // Throws FormatError if a reader holds more bytes of text than these limits allow.
  void check_held(std::size_t bytes) const;
};

// Opens a file. Throws FileError unless it is the file that the job expects under this path
// (JobControl::inputs()). Throws FormatError, here or at the first read(), for a format that ancify
// does not read, such as HTML. `buffer_size` is the number of bytes of the file to read at a time.
// Idle threads of the job help to inflate bgzip blocks.
std::unique_ptr<ByteSource> open_text(const std::string& path, std::size_t buffer_size = 1 << 20,
                                      const TaskContext& context = TaskContext());

// Like open_text(), for a text that its reader keeps. read() throws FormatError once the text is
// far larger than the file, see check_held().
std::unique_ptr<ByteSource> open_kept_text(const std::string& path,
                                           std::size_t buffer_size = 1 << 20,
                                           const TaskContext& context = TaskContext());

// Like open_kept_text(), for bytes of any kind, which stay as they are.
std::unique_ptr<ByteSource> open_kept_bytes(const std::string& path,
                                            const TaskContext& context = TaskContext());

}  // namespace ancify
