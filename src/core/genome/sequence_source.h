// One species' sequence of a chromosome, wherever it is kept, read piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

// How sequences are kept: a character a position, or packed (packed.h).
enum class SequenceForm { kCharacters, kPacked };

class SequenceSource {
 public:
  virtual ~SequenceSource() = default;
  virtual SequenceForm form() const = 0;
  // n positions from `start` on, a multiple of kPackedGroup; in `buffer`, which has room for n
  // bytes, or where they are.
  virtual const char* bases(std::int64_t start, std::size_t n, char* buffer) const = 0;
  // FileError where what was read is a file that has changed since it was opened.
  virtual void check_unchanged() const {}
};

using SequenceSources = std::vector<std::unique_ptr<SequenceSource>>;

// The one-line FASTA of a chromosome; FormatError if it is not that, FileError if `inputs` has
// another file under this path.
std::unique_ptr<SequenceSource> file_source(const std::string& path, const std::string& name,
                                            std::int64_t length,
                                            const InputIdentities& inputs = {});

// Sequences in memory, which have to stay there.
std::unique_ptr<SequenceSource> memory_source(const char* bases, SequenceForm form);

}  // namespace ancify
