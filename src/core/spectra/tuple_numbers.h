// Indexes combinations of values in the order of their first appearance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ancify {

// A hash table of tuples of `words` words each.
class TupleNumbers {
 public:
  explicit TupleNumbers(std::size_t words);

  // The index of a tuple, from 0. A new tuple gets the next index; throws InputError after four
  // billion.
  std::size_t number(const std::uint64_t* tuple);
  const std::uint64_t* tuple(std::size_t number) const { return &tuples_[number * words_]; }
  std::size_t size() const { return size_; }

 private:
  std::size_t first_slot(const std::uint64_t* tuple) const;
  void grow();

  std::size_t words_;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> tuples_;
  std::vector<std::uint32_t> slots_;  // a tuple's index plus 1; 0 if empty
};

}  // namespace ancify
