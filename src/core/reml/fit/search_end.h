// The end of a search for the maximum of a restricted likelihood.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "core/reml/fit/fit.h"

namespace ancify::reml {

template <class Maximum>
void end_search(bool converged, const std::string& status, const std::string& message,
                Maximum& at) {
  at.converged = converged;
  at.status = status;
  at.message = message;
}

// Ends a search where s'I^-1 s is below the tolerance, or as small as rounding and without gain, or
// where the iterations are used up.
class SearchEnd {
 public:
  explicit SearchEnd(const SearchSettings& settings)
      : tolerance_(settings.tolerance), max_iterations_(settings.max_iterations) {}

  // Called once after each iteration, with its s'I^-1 s. Sets the outcome of `at` at the end.
  template <class Maximum>
  bool reached(double decrement, Maximum& at) {
    without_gain_ = decrement < 0.5 * least_ ? 0 : without_gain_ + 1;
    least_ = std::min(least_, decrement);
    const bool rounding = decrement < kRoundingOfDecrement && without_gain_ >= kMostWithoutGain;
    if (decrement < tolerance_ || rounding) {
      end_search(true, "converged", "", at);
      return true;
    }
    if (static_cast<int>(at.iterations.size()) > max_iterations_) {
      end_search(false, "iterations",
                 "the limit of " + std::to_string(max_iterations_) +
                     " iterations was reached; raise `max_iterations`",
                 at);
      return true;
    }
    return false;
  }

 private:
  // If only rounding errors remain, s'I^-1 s stagnates. Below this value it then counts as 0.
  static constexpr double kRoundingOfDecrement = 1e-9;
  static constexpr int kMostWithoutGain = 3;

  double tolerance_;
  int max_iterations_;
  double least_ = std::numeric_limits<double>::infinity();  // s'I^-1 s so far
  int without_gain_ = 0;
};

}  // namespace ancify::reml
