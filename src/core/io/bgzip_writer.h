// Compresses text by bgzip, with an index of its blocks. Other files of this folder do not see
// htslib.
#pragma once

#include <cstddef>
#include <memory>

#include "core/io/file.h"

namespace ancify {

class BgzipWriter {
 public:
  // `file` and `index` are empty. `threads` threads compress, in addition to the caller's thread;
  // the bytes do not depend on them. Throws InputError in a build without htslib.
  BgzipWriter(const OutputFile& file, const OutputFile& index, int threads);
  BgzipWriter(const BgzipWriter&) = delete;
  BgzipWriter& operator=(const BgzipWriter&) = delete;
  ~BgzipWriter();

  // Throws FileError on failure, as finish() does.
  void write(const char* data, std::size_t n);
  // Ends the file, and writes the index (.gzi).
  void finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ancify
