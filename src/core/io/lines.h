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

// Reads the lines of a plain or gzip file. To bound memory, a line of more than `longest` bytes is
// a FormatError. So is a text far larger than its compressed file (ByteSource::check_held()), as
// readers of lines keep the text.
class LineReader {
 public:
  // `chunk_size` is the number of bytes of text to read at a time.
  explicit LineReader(const std::string& path, std::size_t longest = kLongestLine,
                      const TaskContext& context = TaskContext(), std::size_t chunk_size = 1 << 16);

  // Gets the next line, without trailing blanks, valid until the next call. False at the end.
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
  std::size_t read_ = 0;  // bytes of text so far
  std::int64_t number_ = 0;
};

// Calls take(line, number) for each line of a file, as LineReader returns them.
template <class Take>
void for_each_line(const std::string& path, const TaskContext& context, Take&& take,
                   std::size_t chunk_size = 1 << 16) {
  LineReader reader(path, kLongestLine, context, chunk_size);
  for (std::string_view line; reader.next(line);) take(line, reader.number());
}

// The text of a small file, plain or gzip, without a byte order mark. Throws FormatError if it has
// more than `most` bytes, is not UTF-8 or contains a NUL.
std::string read_text(const std::string& path, std::size_t most);

// The raw bytes of a small file. Throws FormatError if it has more than `most`.
std::vector<char> read_bytes(const std::string& path, std::size_t most);

// The bytes of a file, inflated if it is compressed. Memory is bounded as by open_kept_bytes().
std::vector<char> read_inflated(const std::string& path, const TaskContext& context);

// `n` bytes of a file from `offset` on. Throws FormatError if the file ends earlier.
std::vector<char> read_range(const std::string& path, std::int64_t offset, std::size_t n);

}  // namespace ancify
