// The outgroup's genome, for alignments that lack its bases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/formats/sequence/twobit.h"
#include "core/genome/lengths.h"

namespace ancify {

// The problem that a sequence has different lengths in two files. `says`: "the chain says".
std::string other_length(const char* says, std::string_view name, std::int64_t here,
                         const std::string& where, std::int64_t there);

class OutgroupGenome {
 public:
  // Opens a 2bit file.
  OutgroupGenome(const std::string& path, const InputIdentities& inputs)
      : genome_(path, inputs), names_(genome_.names()) {}

  // Chooses the sequence to read. Returns the problem if the genome has none of this name and
  // length; empty on success.
  std::string choose(const char* says, std::string_view name, std::int64_t length);
  // Replaces `row` by `n` bases of the chosen sequence from `start` on, both along its strand.
  void read(bool minus, std::int64_t start, std::size_t n, std::string& row);
  // FileError if the file has changed.
  void check_unchanged() const { genome_.check_unchanged(); }

 private:
  TwoBitFile genome_;
  ChromosomeNames names_;
  std::size_t sequence_ = 0;
  std::int64_t length_ = 0;
  std::string bases_;  // of the plus strand, where the row is on the minus strand
};

}  // namespace ancify
