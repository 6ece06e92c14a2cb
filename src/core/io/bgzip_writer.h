// Compresses text by bgzip, on the threads of a job, with an index of its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/threads.h"
#include "core/io/file.h"

namespace ancify {

// The bytes do not depend on the number of threads. Memory is bounded, but for the index: 16 bytes
// for each 64 KB of text.
class BgzipWriter {
 public:
  // `file` is empty. Throws InputError in a build without htslib.
  BgzipWriter(OutputFile& file, const TaskContext& context);

  void write(const char* data, std::size_t n);
  // Ends the file. Returns its index, the bytes of a .gzi.
  std::string finish();

 private:
  // Compresses and writes the waiting text.
  void put();
  void append(const std::string& block);

  OutputFile& file_;
  const TaskContext& context_;
  std::string waiting_;
  std::vector<std::string> blocks_;
  std::int64_t written_ = 0;  // bytes of the file
  std::int64_t read_ = 0;     // bytes of text in it
  std::int64_t indexed_ = 0;  // blocks in the index
  std::string index_;
};

}  // namespace ancify
