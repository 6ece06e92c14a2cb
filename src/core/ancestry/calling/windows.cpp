// Keeps the states of windows.
#include "core/ancestry/calling/windows.h"

#include <algorithm>

namespace ancify {

Windows::Windows(const std::vector<Chromosome>& chromosomes, std::int64_t positions,
                 bool with_neighbours)
    : chromosomes_(chromosomes),
      positions_(positions),
      with_neighbours_(with_neighbours),
      first_(1, 0) {
  for (const auto& chromosome : chromosomes) {
    const std::int64_t n = (chromosome.length + positions - 1) / positions;
    first_.push_back(first_.back() + static_cast<std::size_t>(n));
  }
  states_.resize(first_.back(), WindowState::kWaiting);
}

std::size_t Windows::chromosome_of(std::size_t window) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), window);
  return static_cast<std::size_t>(after - first_.begin()) - 1;
}

std::int64_t Windows::start(std::size_t window) const {
  return static_cast<std::int64_t>(window - first_[chromosome_of(window)]) * positions_;
}

std::int64_t Windows::end(std::size_t window) const {
  return std::min(start(window) + positions_, chromosomes_[chromosome_of(window)].length);
}

Windows::Range Windows::beside(std::size_t window) const {
  if (!with_neighbours_) return {window, window};
  const std::size_t chromosome = chromosome_of(window);
  return {window == first_of(chromosome) ? window : window - 1,
          window + 1 == end_of(chromosome) ? window : window + 1};
}

bool Windows::any_beside(std::size_t window, WindowState state) const {
  const auto [first, last] = beside(window);
  return std::find(&states_[first], &states_[last] + 1, state) != &states_[last] + 1;
}

void Windows::replace_beside(std::size_t window, WindowState from, WindowState by) {
  const auto [first, last] = beside(window);
  std::replace(&states_[first], &states_[last] + 1, from, by);
}

void Windows::put_off(std::size_t window) {
  replace_beside(window, WindowState::kCalled, WindowState::kPutOff);
  give_up(window);
}

void Windows::give_up(std::size_t window) {
  replace_beside(window, WindowState::kWaiting, WindowState::kPutOff);
}

std::vector<std::size_t> Windows::end_reading() {
  std::vector<std::size_t> left;
  for (std::size_t window = 0; window < states_.size(); ++window) {
    if (states_[window] == WindowState::kPutOff) left.push_back(window);
    if (states_[window] == WindowState::kCalled) states_[window] = WindowState::kFinal;
  }
  return left;
}

}  // namespace ancify
