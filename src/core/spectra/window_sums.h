// Sums of many cells, window by window; only nonzero sums are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/errors.h"

namespace ancify {

// Column by column: a row is a window, a cell, and the sum of the cell in the window.
struct WindowSums {
  std::vector<std::int32_t> windows;
  std::vector<std::int64_t> cells;
  std::vector<double> sums;
};

// The number of windows of a chromosome; one if `window`, their length, is 0. An absent chromosome
// has none.
inline std::int64_t windows_of(std::int64_t length, std::int64_t window) {
  if (length == 0 || window == 0) return length == 0 ? 0 : 1;
  return (length + window - 1) / window;
}

// Collects the sums of one window after the other.
class WindowSummer {
 public:
  explicit WindowSummer(std::size_t cells) : sums_(cells) {}

  // Windows must come in ascending order.
  void go_to(std::int64_t window) {
    if (window != window_) end_window();
    window_ = window;
  }
  void add(std::size_t cell, double more) {
    if (more == 0) return;
    if (sums_[cell] == 0) touched_.push_back(cell);
    sums_[cell] += more;
  }
  WindowSums finish() {
    end_window();
    return std::move(result_);
  }

 private:
  void end_window() {
    constexpr std::size_t most = 100'000'000;
    if (result_.sums.size() + touched_.size() > most) {
      throw InputError("the windows have more than 100,000,000 counts: give longer windows");
    }
    std::sort(touched_.begin(), touched_.end());
    for (const std::size_t cell : touched_) {
      result_.windows.push_back(static_cast<std::int32_t>(window_));
      result_.cells.push_back(static_cast<std::int64_t>(cell));
      result_.sums.push_back(sums_[cell]);
      sums_[cell] = 0;
    }
    touched_.clear();
  }

  std::int64_t window_ = 0;
  std::vector<double> sums_;
  std::vector<std::size_t> touched_;
  WindowSums result_;
};

}  // namespace ancify
