// Compares the focal rows of blocks with the focal genome.
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

// Opens the focal genome's sequence of a chromosome; safe from several threads.
using OpenFocal = std::function<std::unique_ptr<SequenceSource>(std::size_t chromosome)>;

// Blocks nearly always come in order, so the genome is read in windows.
class FocalCheck {
 public:
  // Both have to stay.
  FocalCheck(const OpenFocal& open, const std::vector<Chromosome>& chromosomes);

  // The first A, C, G or T of the focal row that is another base in the genome, whatever the case;
  // empty if there is none. The pair's coordinates are good. Pairs that share a focal row come one
  // after the other, and the row is compared once.
  std::string difference(const AlignedPair& pair, std::size_t chromosome);

 private:
  std::string compare(const AlignedPair& pair, std::size_t chromosome);
  // Makes the window hold a position.
  void go_to(std::size_t chromosome, std::int64_t position);

  const OpenFocal& open_;
  const std::vector<Chromosome>& chromosomes_;
  std::unique_ptr<SequenceSource> source_;
  std::size_t chromosome_ = 0;   // of the source
  std::int64_t start_ = 0;       // of the window
  std::int64_t end_ = 0;         // of the window
  std::vector<char> window_;     // letters
  std::vector<char> buffer_;     // what the source gives
  std::vector<char> row_;        // letters of a focal row with gaps
  std::int64_t last_line_ = 0;   // the focal row compared last
  std::string last_difference_;  // and what was found
};

}  // namespace ancify
