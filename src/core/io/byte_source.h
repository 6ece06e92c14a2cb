// The text of a file, plain or gzip (also bgzip, several members), told apart by content.
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
  // Puts up to n bytes of text into `out`; 0 only at the end of the text. FileError there if the
  // file has changed meanwhile.
  virtual std::size_t read(char* out, std::size_t n) = 0;
  // Bytes of the file used so far.
  virtual std::int64_t consumed() const = 0;
};

// FileError unless the file is the one that the job expects under this path (JobControl::inputs()).
// `buffer_size`: bytes of the file read at a time. The blocks of bgzip are inflated on idle threads
// of the job too.
std::unique_ptr<ByteSource> open_text(const std::string& path, std::size_t buffer_size = 1 << 20,
                                      const TaskContext& context = TaskContext());

}  // namespace ancify
