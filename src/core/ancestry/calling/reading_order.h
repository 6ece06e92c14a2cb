// Tracks the readers of several alignments: their positions, which reader advances, and what all
// have passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/genome/lengths.h"

namespace ancify {

// A reader's position, by the starts of its blocks.
struct Passage {
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  void begin_block(std::size_t on, std::int64_t at) {
    if (on != chromosome) met.push_back(on);
    chromosome = on;
    position = at;
  }

  std::size_t chromosome = kNowhere;
  std::int64_t position = 0;
  std::vector<std::size_t> met;  // chromosomes begun since this was last emptied
};

// A reader has passed the positions before its last block, and the chromosomes that it has left. At
// its end it has passed everything. Chromosomes it has not met may still come.
class ReadingOrder {
 public:
  // `window` is the step, in positions, by which readers advance together.
  ReadingOrder(std::size_t readers, const std::vector<Chromosome>& chromosomes,
               std::int64_t window);

  // Records the reader's advance, and empties passage.met.
  void move(std::size_t reader, Passage& passage);
  void end(std::size_t reader);
  // A block of the reader came late. After several late blocks, the reader passes nothing more of
  // the chromosome before its end: waiting is cheaper than reading again.
  void note_late(std::size_t reader, std::size_t chromosome);

  // The position that all readers have passed on the chromosome.
  std::int64_t passed(std::size_t chromosome) const;
  // Chromosomes on which this position may have advanced since the last call.
  std::vector<std::size_t> take_moved() { return std::exchange(moved_, {}); }

  // Readers on this chromosome, before this window, advance.
  struct Turn {
    std::size_t chromosome;
    std::int64_t window;
  };
  // The lagging readers on the chromosome with the fewest positions left. So readers on a short
  // chromosome that others lack catch up with them.
  Turn next_turn() const;
  bool has_turn(const Passage& passage, const Turn& turn) const {
    return passage.chromosome == turn.chromosome && passage.position / window_ < turn.window;
  }

 private:
  struct Place {
    bool has_ended = false;
    std::size_t chromosome = Passage::kNowhere;
    std::int64_t position = 0;
    std::vector<bool> left;  // by chromosome
    std::vector<std::uint8_t> late;
  };

  const std::vector<Chromosome>& chromosomes_;
  std::int64_t window_;
  std::vector<Place> places_;
  std::vector<std::size_t> moved_;
};

}  // namespace ancify
