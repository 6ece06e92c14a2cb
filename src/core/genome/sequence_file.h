// Reads and writes a chromosome as FASTA: a header, and the whole sequence on one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/io/checksum.h"
#include "core/io/file.h"

namespace ancify {

class SequenceReader {
 public:
  // Throws FormatError unless the file holds one sequence of this name and length on one line.
  // Throws FileError if `inputs` has another identity for this path.
  SequenceReader(const std::string& path, const std::string& name, std::int64_t length,
                 const InputIdentities& inputs = {});
  // Takes the length from the file. It looks for further lines only in the first 64 KB; read()
  // finds later ones.
  SequenceReader(const std::string& path, const std::string& name);
  std::int64_t length() const { return length_; }
  // Copies positions start, ..., start + n - 1, counted from 0. Throws FormatError if they contain
  // a line end.
  void read(std::int64_t start, std::size_t n, char* out) const;
  void check_unchanged() const { file_.check_unchanged(); }

 private:
  // Finds the first base, and returns the start of the file.
  std::string read_header(const std::string& name);

  InputFile file_;
  std::int64_t first_base_ = 0;
  std::int64_t length_ = 0;
};

class SequenceWriter {
 public:
  SequenceWriter(const std::string& path, const std::string& name, std::int64_t length);
  // Writes positions start, ..., start + n - 1, counted from 0. Several threads may write at once.
  void write(const char* bases, std::size_t n, std::int64_t start) {
    file_.write_at(bases, n, static_cast<std::int64_t>(header_.size()) + start);
  }
  // Reads written positions.
  void read(char* bases, std::size_t n, std::int64_t start) const {
    file_.read_at(bases, n, static_cast<std::int64_t>(header_.size()) + start);
  }
  OutputFile& file() { return file_; }
  // The checksum of the whole file, from the checksum of the sequence.
  FileChecksum checksum(std::uint32_t of_sequence) const;

 private:
  std::string header_;
  OutputFile file_;
};

}  // namespace ancify
