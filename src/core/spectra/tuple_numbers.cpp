// Indexes tuples by a hash table with open addressing.
#include "core/spectra/tuple_numbers.h"

#include <algorithm>
#include <limits>

#include "core/exec/errors.h"

namespace ancify {

namespace {

constexpr std::size_t kFewestSlots = 1 << 10;

}  // namespace

TupleNumbers::TupleNumbers(std::size_t words) : words_(words), slots_(kFewestSlots) {}

std::size_t TupleNumbers::number(const std::uint64_t* tuple) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = first_slot(tuple);
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t known = slots_[slot] - 1;
    if (std::equal(tuple, tuple + words_, this->tuple(known))) return known;
  }
  if (size_ >= std::numeric_limits<std::uint32_t>::max() - 1) {
    throw InputError("there are more than four billion combinations of allele counts");
  }
  tuples_.insert(tuples_.end(), tuple, tuple + words_);
  slots_[slot] = static_cast<std::uint32_t>(++size_);
  if (2 * size_ > slots_.size()) grow();
  return size_ - 1;
}

std::size_t TupleNumbers::first_slot(const std::uint64_t* tuple) const {
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < words_; ++k) {
    hash = (hash ^ tuple[k]) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash) & (slots_.size() - 1);
}

void TupleNumbers::grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (std::size_t i = 0; i < size_; ++i) {
    std::size_t slot = first_slot(tuple(i));
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace ancify
