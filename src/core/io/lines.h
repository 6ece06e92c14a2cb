// Reads a file line by line, or a small file as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/io/byte_source.h"
#include "core/io/record_size.h"

namespace ancify {

// Reads the lines of a plain or gzip file. A line of more than `longest` bytes is a FormatError, so
// that memory is bounded.
class LineReader {
 public:
  // `chunk_size`: bytes of text to read at a time.
  explicit LineReader(const std::string& path, std::size_t longest = kLongestLine,
                      const TaskContext& context = TaskContext(), std::size_t chunk_size = 1 << 16);

  // Gets the next line, without blanks at its end, valid until the next call. False at the end.
  bool next(std::string_view& line);
  // The number of the line read last, counted from 1.
  std::int64_t number() const { return number_; }

 private:
  // Reads more text after the unfinished line; false at the end of the file.
  bool refill();

  std::string path_;
  std::size_t longest_;
  TaskContext context_;
  std::size_t chunk_size_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t number_ = 0;
};

// Calls take(line, number) for each line of a file, as LineReader gives them.
template <class Take>
void for_each_line(const std::string& path, const TaskContext& context, Take&& take,
                   std::size_t chunk_size = 1 << 16) {
  LineReader reader(path, kLongestLine, context, chunk_size);
  for (std::string_view line; reader.next(line);) take(line, reader.number());
}

// The text of a small file, plain or gzip, without a byte order mark. FormatError if it has more
// than `most` bytes, is not UTF-8 or has a NUL.
std::string read_text(const std::string& path, std::size_t most);

}  // namespace ancify
