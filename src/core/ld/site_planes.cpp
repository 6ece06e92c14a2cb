// Packs sites into bit planes.
#include "core/ld/site_planes.h"

#include <utility>

namespace ancify {

namespace {

constexpr std::size_t kPlanes = 3;

}  // namespace

SitePlanes::SitePlanes(std::vector<std::int64_t> units, UnitKind kind)
    : units_(std::move(units)), kind_(kind) {
  for (const std::int64_t n : units_) {
    words_of_.push_back((static_cast<std::size_t>(n) + kWordBits - 1) / kWordBits);
    begins_.push_back(stride_);
    stride_ += kPlanes * words_of_.back();
  }
}

void SitePlanes::begin() {
  planes_.resize(planes_.size() + stride_);
  sums_.resize(sums_.size() + populations());
}

void SitePlanes::set(std::size_t population, std::int64_t unit, int x) {
  std::uint64_t* const words = &planes_[planes_.size() - stride_ + begins_[population]];
  const std::size_t n = words_of_[population];
  const std::size_t word = static_cast<std::size_t>(unit) / kWordBits;
  const std::uint64_t bit = std::uint64_t{1} << static_cast<std::size_t>(unit) % kWordBits;
  words[word] |= bit;
  if (x != 0) words[n + word] |= bit;
  if (x < 0) words[2 * n + word] |= bit;
}

UnitSums SitePlanes::summed(std::int64_t site, std::size_t population) const {
  UnitSums sums;
  for (std::size_t w = 0; w < words(population); ++w) {
    sums.called += __builtin_popcountll(called(site, population)[w]);
    sums.squares += __builtin_popcountll(unlike(site, population)[w]);
    sums.x -= 2 * __builtin_popcountll(negative(site, population)[w]);
  }
  sums.x += sums.squares;
  return sums;
}

FilterStatus SitePlanes::close() {
  const std::int64_t site = size() - 1;
  std::int64_t called = 0;
  std::int64_t x = 0;
  bool too_few = false;
  for (std::size_t k = 0; k < populations(); ++k) {
    const UnitSums sums = summed(site, k);
    sums_[static_cast<std::size_t>(site) * populations() + k] = sums;
    called += sums.called;
    x += sums.x;
    too_few = too_few || sums.called < kFewestUnits;
  }
  const bool fixed = x == called || x == -called;
  if (!fixed && !too_few) return FilterStatus::kKept;
  planes_.resize(planes_.size() - stride_);
  sums_.resize(sums_.size() - populations());
  return too_few ? FilterStatus::kTooFew : FilterStatus::kFixed;
}

}  // namespace ancify
