// Compares the places of readers.
#include "core/ancestry/calling/reading_order.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ancify {

namespace {

constexpr std::int64_t kNotMet = std::numeric_limits<std::int64_t>::max();

}  // namespace

ReadingOrder::ReadingOrder(std::size_t readers, const std::vector<Chromosome>& chromosomes,
                           std::int64_t window)
    : chromosomes_(chromosomes),
      window_(window),
      places_(readers),
      ranks_(chromosomes.size(), kNotMet) {
  for (Place& place : places_) place.left.resize(chromosomes.size());
}

void ReadingOrder::move(std::size_t reader, Passage& passage) {
  Place& place = places_[reader];
  if (place.at.chromosome != Passage::kNowhere) moved_.push_back(place.at.chromosome);
  for (const std::size_t met : passage.met) {
    if (place.at.chromosome != Passage::kNowhere) place.left[place.at.chromosome] = true;
    place.at.chromosome = met;
    if (ranks_[met] == kNotMet) ranks_[met] = n_ranked_++;
    moved_.push_back(met);
  }
  passage.met.clear();
  place.at.position = passage.position;
}

void ReadingOrder::end(std::size_t reader) {
  places_[reader].has_ended = true;
  moved_.resize(chromosomes_.size());
  std::iota(moved_.begin(), moved_.end(), 0);
}

std::int64_t ReadingOrder::passed(std::size_t chromosome) const {
  std::int64_t passed = chromosomes_[chromosome].length;
  for (const Place& place : places_) {
    if (place.has_ended || (place.is_sorted && place.left[chromosome])) continue;
    const bool is_here = place.is_sorted && place.at.chromosome == chromosome;
    passed = std::min(passed, is_here ? place.at.position : 0);
  }
  return passed;
}

ReadingOrder::Step ReadingOrder::step_of(const Passage& passage) const {
  if (passage.chromosome == Passage::kNowhere) return {-1, 0};
  return {ranks_[passage.chromosome], passage.position / window_};
}

ReadingOrder::Step ReadingOrder::goal() const {
  Step last = {kNotMet, 0};
  for (const Place& place : places_) {
    if (!place.has_ended) last = std::min(last, step_of(place.at));
  }
  return {last.first, last.second + 1};
}

}  // namespace ancify
