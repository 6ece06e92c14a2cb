// The windows of a genome in a run that projects and calls at once: which of them keep bases, can
// be called, or need another reading of the alignments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/genome/lengths.h"

namespace ancify {

// event \ state    waiting            called            put off           final
// all have passed  called             -                 -                 -
// a block comes    its bases are kept put off           -                 -
// memory is short  put off            -                 -                 -
// files have ended called, then final final             -                 -
// next reading     -                  -                 waiting, if it    -
//                                                       has room
//
// Calls of a method that looks around a position depend on the bases of the neighbouring windows
// too. Then a window is called when all have passed its neighbours, its bases are kept as long as
// one of them waits, and they are put off together.
enum class WindowState : std::uint8_t { kWaiting, kCalled, kPutOff, kFinal };

// All windows have equally many positions, except the last of each chromosome. They are indexed
// throughout the genome.
class Windows {
 public:
  // A window has `positions`. `with_neighbours` tells whether calls depend on neighbouring windows.
  Windows(const std::vector<Chromosome>& chromosomes, std::int64_t positions, bool with_neighbours);

  std::size_t size() const { return states_.size(); }
  std::int64_t positions() const { return positions_; }
  std::size_t first_of(std::size_t chromosome) const { return first_[chromosome]; }
  std::size_t end_of(std::size_t chromosome) const { return first_[chromosome + 1]; }
  std::size_t chromosome_of(std::size_t window) const;
  std::size_t at(std::size_t chromosome, std::int64_t position) const {
    return first_[chromosome] + static_cast<std::size_t>(position / positions_);
  }
  // The first position of a window, and the position after its last.
  std::int64_t start(std::size_t window) const;
  std::int64_t end(std::size_t window) const;

  struct Range {
    std::size_t first;
    std::size_t last;
  };
  // A window and, if calls depend on them, its neighbours on the same chromosome.
  Range beside(std::size_t window) const;
  WindowState state(std::size_t window) const { return states_[window]; }
  // True if bases of this window are still needed.
  bool is_kept(std::size_t window) const { return any_beside(window, WindowState::kWaiting); }
  // True if a base arriving in this window now is too late.
  bool is_late(std::size_t window) const { return any_beside(window, WindowState::kCalled); }
  // The position up to which all files must have passed before this window can be called.
  std::int64_t needs(std::size_t window) const { return end(beside(window).last); }

  void call(std::size_t window) { states_[window] = WindowState::kCalled; }
  // A late base invalidates all calls that depend on this window.
  void put_off(std::size_t window);
  // Drops this window's bases: calls that wait for them are put off.
  void give_up(std::size_t window);
  // All files have ended, and all waiting windows are called. Returns the windows put off.
  std::vector<std::size_t> end_reading();
  // Chooses windows from `left` for the next reading: at least one, and no more than fit.
  // cost(window) is the size of its bases in bytes.
  template <class Cost>
  std::vector<std::size_t> choose(const std::vector<std::size_t>& left, std::int64_t memory,
                                  Cost cost) {
    std::vector<std::size_t> chosen;
    for (const std::size_t window : left) {
      const auto [first, last] = beside(window);
      for (std::size_t w = first; w <= last; ++w) memory -= is_kept(w) ? 0 : cost(w);
      if (memory < 0 && !chosen.empty()) break;
      states_[window] = WindowState::kWaiting;
      chosen.push_back(window);
    }
    return chosen;
  }

 private:
  bool any_beside(std::size_t window, WindowState state) const;
  void replace_beside(std::size_t window, WindowState from, WindowState by);

  const std::vector<Chromosome>& chromosomes_;
  std::int64_t positions_;
  bool with_neighbours_;
  std::vector<std::size_t> first_;  // of each chromosome, and their number
  std::vector<WindowState> states_;
};

}  // namespace ancify
