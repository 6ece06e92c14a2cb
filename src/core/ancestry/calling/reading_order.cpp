// Compares the positions of readers.
#include "core/ancestry/calling/reading_order.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ancify {

namespace {

// The number of late blocks, in windows, after which a chromosome counts as unsorted.
constexpr std::uint8_t kStray = 3;

}  // namespace

ReadingOrder::ReadingOrder(std::size_t readers, const std::vector<Chromosome>& chromosomes,
                           std::int64_t window)
    : chromosomes_(chromosomes), window_(window), places_(readers) {
  for (Place& place : places_) {
    place.left.resize(chromosomes.size());
    place.late.resize(chromosomes.size());
  }
}

void ReadingOrder::move(std::size_t reader, Passage& passage) {
  Place& place = places_[reader];
  if (place.chromosome != Passage::kNowhere) moved_.push_back(place.chromosome);
  for (const std::size_t met : passage.met) {
    if (place.chromosome != Passage::kNowhere) place.left[place.chromosome] = true;
    place.chromosome = met;
    place.left[met] = false;
    moved_.push_back(met);
  }
  passage.met.clear();
  place.position = passage.position;
}

void ReadingOrder::end(std::size_t reader) {
  places_[reader].has_ended = true;
  moved_.resize(chromosomes_.size());
  std::iota(moved_.begin(), moved_.end(), 0);
}

void ReadingOrder::note_late(std::size_t reader, std::size_t chromosome) {
  std::uint8_t& late = places_[reader].late[chromosome];
  if (late <= kStray) ++late;
}

std::int64_t ReadingOrder::passed(std::size_t chromosome) const {
  std::int64_t passed = chromosomes_[chromosome].length;
  for (const Place& place : places_) {
    if (place.has_ended) continue;
    if (place.late[chromosome] > kStray) return 0;
    if (place.left[chromosome]) continue;
    passed = std::min(passed, place.chromosome == chromosome ? place.position : 0);
  }
  return passed;
}

ReadingOrder::Turn ReadingOrder::next_turn() const {
  std::map<std::size_t, std::int64_t> last;  // position, by chromosome
  for (const Place& place : places_) {
    if (place.has_ended) continue;
    const auto [at, is_first] = last.emplace(place.chromosome, place.position);
    if (!is_first) at->second = std::min(at->second, place.position);
  }
  const auto left_on = [&](const auto& place) {
    return place.first == Passage::kNowhere ? -1 : chromosomes_[place.first].length - place.second;
  };
  const auto chosen = std::min_element(
      last.begin(), last.end(),
      [&](const auto& one, const auto& other) { return left_on(one) < left_on(other); });
  if (chosen == last.end()) return {Passage::kNowhere, 0};
  return {chosen->first, chosen->second / window_ + 1};
}

}  // namespace ancify
