// The text form of spectra: lines of words, between comments and empty lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/io/byte_source.h"

namespace ancify {

// Reads a file, plain or gzip, line by line. A line of numbers may be of any length: what is kept
// of it are the numbers.
class SpectrumReader {
 public:
  explicit SpectrumReader(const std::string& path);

  // Goes to the next line that is neither empty nor a comment; false at the end.
  bool next_line();
  // Of the line gone to, counted from 1; at the end of the last.
  std::int64_t line() const { return line_; }

  // The line as it is, without blanks at its end; FormatError unless it is text in UTF-8.
  std::string text();

  // Puts up to n numbers of the line where `numbers` is and gives how many there are, n + 1 for any
  // more. FormatError for a word that is no number; `what` says what they are.
  std::int64_t numbers(double* numbers, std::int64_t n, const std::string& what);

 private:
  static constexpr int kEnd = -1;
  // The next byte.
  int peek() {
    if (begin_ == end_ && !refill()) return kEnd;
    return static_cast<unsigned char>(buffer_[begin_]);
  }
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
