// Reads a sequence of a chromosome piece by piece, from a file or from memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

// The form of a sequence: a character per position, or packed (packed.h).
enum class SequenceForm { kCharacters, kPacked };

// The number of bytes before a position, which must be a multiple of kPackedGroup in a packed
// sequence.
constexpr std::size_t bytes_before(SequenceForm form, std::size_t position) {
  return form == SequenceForm::kPacked ? position / 2 : position;
}

class SequenceSource {
 public:
  virtual ~SequenceSource() = default;
  virtual SequenceForm form() const = 0;
  // Returns n positions from `start` on, which must be a multiple of kPackedGroup. They are in
  // `buffer`, which has space for n bytes, or in the source's own memory.
  virtual const char* bases(std::int64_t start, std::size_t n, char* buffer) const = 0;
  // Throws FileError if the source is a file that has changed since it was opened.
  virtual void check_unchanged() const {}
};

using SequenceSources = std::vector<std::unique_ptr<SequenceSource>>;

// Opens a chromosome's one-line FASTA. Throws FormatError for any other file, FileError if `inputs`
// has another identity for this path.
std::unique_ptr<SequenceSource> file_source(const std::string& path, const std::string& name,
                                            std::int64_t length,
                                            const InputIdentities& inputs = {});

// A sequence in memory, which must stay valid.
std::unique_ptr<SequenceSource> memory_source(const char* bases, SequenceForm form);

}  // namespace ancify
