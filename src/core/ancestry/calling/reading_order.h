// Where the readers of several alignments are, and what all of them have passed.
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

// Chromosomes have the order in which readers first meet them. A reader has passed the positions
// before its last block and the chromosomes that it has left, until its file turns out to be
// unsorted; at its end it has passed all.
class ReadingOrder {
 public:
  // `window`: the steps, in positions, in which readers go on together.
  ReadingOrder(std::size_t readers, const std::vector<Chromosome>& chromosomes,
               std::int64_t window);

  // The reader has gone on; empties passage.met.
  void move(std::size_t reader, Passage& passage);
  void end(std::size_t reader);
  void distrust(std::size_t reader) { places_[reader].is_sorted = false; }

  // The position before which no reader has anything left on the chromosome.
  std::int64_t passed(std::size_t chromosome) const;
  // Chromosomes of which more may have been passed since the last call.
  std::vector<std::size_t> take_moved() { return std::exchange(moved_, {}); }

  // A step of the common way: the chromosome's rank, and the window.
  using Step = std::pair<std::int64_t, std::int64_t>;
  Step step_of(const Passage& passage) const;
  // The step behind that of the last reader.
  Step goal() const;

 private:
  struct Place {
    bool has_ended = false;
    bool is_sorted = true;
    Passage at;
    std::vector<bool> left;  // by chromosome
  };

  const std::vector<Chromosome>& chromosomes_;
  std::int64_t window_;
  std::vector<Place> places_;
  std::vector<std::int64_t> ranks_;
  std::int64_t n_ranked_ = 0;
  std::vector<std::size_t> moved_;
};

}  // namespace ancify
