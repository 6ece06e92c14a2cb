// Reads 2bit, UCSC's format of a genome: any range of its sequences, without reading the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/formats/sequence/fasta.h"
#include "core/io/file.h"

namespace ancify {

// Only one thread at a time may use it. Damage to the file throws FormatError, here or later.
class TwoBitFile {
 public:
  // Throws FileError if `inputs` has another identity for this path.
  explicit TwoBitFile(const std::string& path, const InputIdentities& inputs = {});
  TwoBitFile(TwoBitFile&&) = default;
  TwoBitFile& operator=(TwoBitFile&&) = default;
  ~TwoBitFile();

  const std::string& path() const { return file_.path(); }
  // In the file's order.
  const std::vector<std::string>& names() const { return names_; }
  // In bases.
  std::int64_t length(std::size_t sequence) { return record(sequence).length; }
  // Writes the bases [start, start + n), which must be inside the sequence, to `out`: A, C, G, T
  // and N, in lower case where the file masks them.
  void read(std::size_t sequence, std::int64_t start, std::size_t n, char* out);
  // Throws FileError if the file has changed since it was opened.
  void check_unchanged() const { file_.check_unchanged(); }

 private:
  class Cursor;
  struct Stretch {
    std::uint32_t start;
    std::uint32_t end;
  };
  struct Record {
    std::int64_t length;
    std::vector<Stretch> unknown;  // positions of N, in order
    std::vector<Stretch> lower;    // positions in lower case, in order
    std::int64_t bases_at;         // offset in the file
  };

  void read_index();
  Record& record(std::size_t sequence);
  Record read_record(std::size_t sequence) const;
  void unpack(const Record& record, std::int64_t start, std::size_t n, char* out);
  [[noreturn]] void throw_damaged(const std::string& problem) const;

  InputFile file_;
  bool swap_ = false;  // the file's byte order differs from this machine's
  std::vector<std::string> names_;
  std::vector<std::int64_t> offsets_;             // of the records
  std::vector<std::unique_ptr<Record>> records_;  // null until their first use
  // A window of the file, as successive ranges are often neighbours.
  std::vector<char> window_;
  std::int64_t window_at_ = -1;
};

// True if a file begins with the 2bit signature.
bool is_twobit(const std::string& path);

// Passes the sequences of a file on as read_fasta() does, with 0 for lines, until enough() is true.
// Returns whether it passed all. Advances `control` by their bytes.
bool read_twobit(
    const std::string& path, const FastaSink& sink, JobControl& control, const TaskContext& context,
    const std::function<bool()>& enough = [] { return false; });

// Passes on the sequences of a FASTA or 2bit file, distinguished by content.
void read_genome(const std::string& path, const FastaSink& sink, JobControl& control,
                 const TaskContext& context);

}  // namespace ancify
