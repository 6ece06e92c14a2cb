// A stretch of positions with the sequences of all species, and its reader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/genome/packed.h"
#include "core/genome/sequence_source.h"

namespace ancify {

// Positions [start, end) of a chromosome. The sequences may extend further on each side: species[s]
// points to position `first`.
struct Stretch {
  std::int64_t chromosome_length = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t first = 0;  // a multiple of kPackedGroup if packed
  const char* const* species = nullptr;
  SequenceForm form = SequenceForm::kCharacters;

  std::size_t size() const { return static_cast<std::size_t>(end - start); }
};

// Reads stretches of a chromosome, with the positions around them.
class StretchReader {
 public:
  // `sources` must outlive this object. `reach` is the number of positions to read on each side of
  // a stretch.
  StretchReader(const SequenceSources& sources, std::int64_t chromosome_length, std::int64_t reach)
      : sources_(sources), bases_(sources.size()), length_(chromosome_length), reach_(reach) {}

  // Reads positions [start, end), with `start` a multiple of kPackedGroup; valid until the next
  // call.
  Stretch read(std::int64_t start, std::int64_t end) {
    constexpr auto group = static_cast<std::int64_t>(kPackedGroup);
    const std::int64_t before = (reach_ + group - 1) / group * group;
    Stretch stretch;
    stretch.chromosome_length = length_;
    stretch.start = start;
    stretch.end = end;
    stretch.first = std::max<std::int64_t>(start - before, 0);
    stretch.form = sources_.front()->form();
    const auto n = static_cast<std::size_t>(std::min(end + reach_, length_) - stretch.first);
    if (bases_.size() * n > size_) {
      size_ = bases_.size() * n;
      buffer_.reset(new char[size_]);  // not cleared, as sources in memory do not use it
    }
    for (std::size_t s = 0; s < bases_.size(); ++s) {
      bases_[s] = sources_[s]->bases(stretch.first, n, &buffer_[s * n]);
    }
    stretch.species = bases_.data();
    return stretch;
  }

 private:
  const SequenceSources& sources_;
  std::vector<const char*> bases_;
  std::unique_ptr<char[]> buffer_;
  std::size_t size_ = 0;
  std::int64_t length_;
  std::int64_t reach_;
};

}  // namespace ancify
