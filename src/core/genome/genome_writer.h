// Writes all chromosomes into one FASTA file, with the index by which programs find a region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/genome/lengths.h"
#include "core/io/bgzip_writer.h"
#include "core/io/file.h"

namespace ancify {

// Writes `path` and its index `path`.fai. If `path` ends in .gz, it is compressed by bgzip, and
// gets a second index, `path`.gzi. Memory does not depend on the lengths.
class GenomeWriter {
 public:
  // `width`: letters in a line. Idle threads of the job help to compress. Throws InputError for a
  // path that ends in .gz in a build without htslib.
  GenomeWriter(const std::string& path, const std::vector<Chromosome>& chromosomes,
               std::int64_t width, const TaskContext& context);

  // Begins the next chromosome.
  void begin(const std::string& name);
  // Appends letters of this chromosome.
  void write(const char* letters, std::size_t n);
  // Ends the last chromosome. The files appear as by commit_set(), the FASTA file last.
  void commit();

 private:
  // The text of an index, and the size of the uncompressed file.
  struct Layout {
    std::string index;
    std::int64_t size = 0;
  };
  static Layout layout_of(const std::vector<Chromosome>& chromosomes, std::int64_t width);

  void end_line();
  void put();  // the buffered text

  std::int64_t width_;
  Layout layout_;
  OutputFile file_;
  OutputFile index_;
  const TaskContext& context_;
  std::optional<BgzipWriter> bgzip_;
  std::string buffer_;
  std::int64_t column_ = 0;   // letters of the current line
  std::int64_t written_ = 0;  // bytes of the uncompressed file
};

}  // namespace ancify
