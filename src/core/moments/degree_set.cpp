// A group of P populations with at most n lineages has choose(n + P, P) degrees.
#include "core/moments/degree_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/exec/errors.h"

namespace ancify::moments {

double number_of_degrees(const LineageBounds& bounds) {
  double degrees = 1;
  for (std::size_t g = 0; g < bounds.lineages.size(); ++g) {
    const auto populations =
        std::count(bounds.group.begin(), bounds.group.end(), static_cast<int>(g));
    for (int k = 1; k <= populations; ++k) degrees *= (bounds.lineages[g] + k) / double(k);
  }
  return std::round(degrees);
}

DegreeSet::DegreeSet(LineageBounds bounds) : bounds_(std::move(bounds)) {
  if (number_of_degrees(bounds_) > std::numeric_limits<int>::max()) {
    throw InputError("the samples have too many combinations of degrees");
  }
  std::vector<int> prefix(static_cast<std::size_t>(populations() - 1));
  std::vector<int> left = bounds_.lineages;
  first_.push_back(0);
  add_lines(prefix, left, 0);
  for (int line = 0; line < lines(); ++line) {
    std::copy_n(prefixes_.begin() + static_cast<std::ptrdiff_t>(at(line, 0)), prefix.size(),
                prefix.begin());
    for (int& degree : prefix) {
      ++degree;
      above_.push_back(find(prefix.data()));
      degree -= 2;
      below_.push_back(find(prefix.data()));
      ++degree;
    }
  }
}

// `left`: the lineages that each group has left for further populations.
void DegreeSet::add_lines(std::vector<int>& prefix, std::vector<int>& left, int population) {
  const auto p = static_cast<std::size_t>(population);
  int& own = left[static_cast<std::size_t>(bounds_.group[p])];
  if (population + 1 == populations()) {
    prefixes_.insert(prefixes_.end(), prefix.begin(), prefix.end());
    first_.push_back(first_.back() + static_cast<std::size_t>(own) + 1);
    return;
  }
  const int most = own;
  for (prefix[p] = 0; prefix[p] <= most; ++prefix[p], --own) {
    add_lines(prefix, left, population + 1);
  }
  own = most;
}

int DegreeSet::find(const int* prefix) const {
  const auto n = static_cast<std::size_t>(populations() - 1);
  int from = 0;
  for (int left = lines(); left > 0;) {
    const int half = left / 2;
    const int* const middle = prefixes_.data() + static_cast<std::size_t>(from + half) * n;
    if (std::lexicographical_compare(middle, middle + n, prefix, prefix + n)) {
      from += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  const bool found =
      from < lines() &&
      std::equal(prefix, prefix + n, prefixes_.data() + static_cast<std::size_t>(from) * n);
  return found ? from : -1;
}

std::size_t DegreeSet::position(const std::vector<int>& degrees) const {
  return first(find(degrees.data())) + static_cast<std::size_t>(degrees.back());
}

}  // namespace ancify::moments
