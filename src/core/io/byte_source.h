// Reads the text of a plain, gzip or bgzip file, told apart by content. A gzip file may have
// several members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/exec/threads.h"

namespace ancify {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Writes up to n bytes of text to `out` and returns their number, 0 only at the end of the text.
  // FormatError for damaged gzip data. At the end, FileError if the file has changed meanwhile.
  virtual std::size_t read(char* out, std::size_t n) = 0;
  // Bytes of the file used so far.
  virtual std::int64_t consumed() const = 0;
};

// Opens a file. FileError unless it is the file that the job expects under this path
// (JobControl::inputs()). `buffer_size`: bytes of the file to read at a time. Idle threads of the
// job help to inflate bgzip blocks.
std::unique_ptr<ByteSource> open_text(const std::string& path, std::size_t buffer_size = 1 << 20,
                                      const TaskContext& context = TaskContext());

}  // namespace ancify
