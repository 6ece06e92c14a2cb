// Reads single bases of a long sequence, from its start to its end.
#pragma once

#include <algorithm>
#include <vector>

#include "core/genome/packed.h"
#include "core/genome/sequence_source.h"

namespace ancify {

class SequenceWindow {
 public:
  // `source` must consist of characters, and outlive this object.
  SequenceWindow(const SequenceSource& source, std::int64_t length)
      : source_(source), length_(length) {}

  // Positions count from 0.
  char at(std::int64_t position) {
    if (position < start_ || position >= end_) move_to(position);
    return bases_[position - start_];
  }
  std::int64_t length() const { return length_; }

 private:
  void move_to(std::int64_t position) {
    constexpr std::int64_t size = 1 << 16;
    static_assert(size % kPackedGroup == 0);
    start_ = position / size * size;
    end_ = std::min(start_ + size, length_);
    buffer_.resize(size);
    bases_ = source_.bases(start_, static_cast<std::size_t>(end_ - start_), buffer_.data());
  }

  const SequenceSource& source_;
  std::int64_t length_;
  std::vector<char> buffer_;
  const char* bases_ = nullptr;
  std::int64_t start_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace ancify
