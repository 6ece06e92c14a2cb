// Compares the focal rows of alignment blocks with the focal genome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/formats/alignment/aligned_pair.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_source.h"

namespace ancify {

// Opens the focal genome's sequence of a chromosome; thread-safe.
using OpenFocal = std::function<std::unique_ptr<SequenceSource>(std::size_t chromosome)>;

// Reads the focal genome in windows, because blocks are nearly always in order.
class FocalCheck {
 public:
  // Both arguments must outlive this.
  FocalCheck(const OpenFocal& open, const std::vector<Chromosome>& chromosomes);

  // A message about the first A, C, G or T of the focal row that is another base in the genome,
  // ignoring case; empty if there is none. The pair's coordinates must be valid. Pairs that share a
  // focal row must follow each other: the row is compared once.
  std::string difference(const AlignedPair& pair, std::size_t chromosome);

 private:
  std::string compare(const AlignedPair& pair, std::size_t chromosome);
  // Moves the window so that it holds a position.
  void go_to(std::size_t chromosome, std::int64_t position);

  const OpenFocal& open_;
  const std::vector<Chromosome>& chromosomes_;
  std::unique_ptr<SequenceSource> source_;
  std::size_t chromosome_ = 0;   // of the source
  std::int64_t start_ = 0;       // of the window
  std::int64_t end_ = 0;         // of the window
  std::vector<char> window_;     // letters
  std::vector<char> buffer_;     // bases from the source
  std::vector<char> row_;        // letters of a focal row with gaps
  std::int64_t last_line_ = 0;   // line of the focal row compared last
  std::string last_difference_;  // and its result
};

}  // namespace ancify
