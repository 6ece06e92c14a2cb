// Where the readers of several alignments are, who of them goes on, and what all have passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/genome/lengths.h"

namespace ancify {

// Where a reader is, by the beginnings of its blocks.
struct Passage {
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  void begin_block(std::size_t on, std::int64_t at) {
    if (on != chromosome) met.push_back(on);
    chromosome = on;
    position = at;
  }

  std::size_t chromosome = kNowhere;
  std::int64_t position = 0;
  std::vector<std::size_t> met;  // the chromosomes begun since this was last emptied
};

// A reader has passed the positions before its last block, and the chromosomes that it has left. At
// its end it has passed all. A chromosome that it has not met may still come.
class ReadingOrder {
 public:
  // `window`: the steps, in positions, in which readers go on together.
  ReadingOrder(std::size_t readers, const std::vector<Chromosome>& chromosomes,
               std::int64_t window);

  // The reader has gone on; empties passage.met.
  void move(std::size_t reader, Passage& passage);
  void end(std::size_t reader);
  // A block of the reader came late. After several, the reader passes nothing more of the
  // chromosome before its end: to wait is cheaper than to read again.
  void note_late(std::size_t reader, std::size_t chromosome);

  // The position before which no reader has anything left on the chromosome.
  std::int64_t passed(std::size_t chromosome) const;
  // Chromosomes of which more may have been passed since the last call.
  std::vector<std::size_t> take_moved() { return std::exchange(moved_, {}); }

  // Readers on this chromosome, before this window, go on.
  struct Turn {
    std::size_t chromosome;
    std::int64_t window;
  };
  // The last ones on the chromosome that has the fewest positions left. So those that are on a
  // short chromosome, which others lack, catch up with them.
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
