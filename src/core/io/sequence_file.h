// One chromosome as FASTA: a header, the whole sequence on one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/io/file.h"

namespace ancify {

class SequenceReader {
 public:
  // FormatError unless the file holds one sequence of this name and length on one line.
  SequenceReader(const std::string& path, const std::string& name, std::int64_t length);
  // Copies positions start, ..., start + n - 1, counted from 0.
  void read(std::int64_t start, std::size_t n, char* out) const;

 private:
  InputFile file_;
  std::int64_t first_base_ = 0;
};

class SequenceWriter {
 public:
  SequenceWriter(const std::string& path, const std::string& name, std::int64_t length);
  // Writes positions start, ..., start + n - 1, counted from 0. Safe from several threads.
  void write(const char* bases, std::size_t n, std::int64_t start) {
    file_.write_at(bases, n, first_base_ + start);
  }
  OutputFile& file() { return file_; }

 private:
  std::int64_t first_base_;
  OutputFile file_;
};

}  // namespace ancify
