// Reads spectra in text form: lines of words, between comments and empty lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/io/byte_source.h"

namespace ancify {

// Reads a plain or gzip file line by line. A line of numbers may have any length, as only its
// numbers are kept.
class SpectrumReader {
 public:
  explicit SpectrumReader(const std::string& path);

  // Advances to the next line that is neither empty nor a comment. False at the end of the file.
  bool next_line();
  // The number of the current line, from 1; at the end of the file, the number of its last line.
  std::int64_t line() const { return line_; }

  // The rest of the line, without trailing blanks. Throws FormatError if it is too long or not
  // UTF-8.
  std::string text();

  // Writes up to n numbers of the line to `numbers` and returns their total, or n + 1 if the line
  // has more than n. Throws FormatError for a word that is not a number, with `what` as the noun.
  std::int64_t numbers(double* numbers, std::int64_t n, const std::string& what);

 private:
  static constexpr int kEnd = -1;
  // The next byte, or kEnd at the end of the file.
  int peek() {
    if (begin_ == end_ && !refill()) return kEnd;
    return static_cast<unsigned char>(buffer_[begin_]);
  }
  // Reads more bytes; false at the end of the file.
  bool refill();
  void skip_line();

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t line_ = 0;
  bool in_line_ = false;
};

}  // namespace ancify
