// Reads stretches of chromosomes, with what lies around them where that is needed.
#pragma once

#include <algorithm>
#include <vector>

#include "core/ancestry/site_features.h"
#include "core/io/packed.h"
#include "core/io/sequence_source.h"

namespace ancify {

class StretchReader {
 public:
  // `sources` have to outlive this. `reach`: positions to each side that are needed too.
  StretchReader(const SequenceSources& sources, std::int64_t chromosome_length, std::int64_t reach)
      : sources_(sources), bases_(sources.size()), length_(chromosome_length), reach_(reach) {}

  // Positions [start, end), `start` a multiple of kPackedGroup; valid until the next call.
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
    buffer_.resize(bases_.size() * n);
    for (std::size_t s = 0; s < bases_.size(); ++s) {
      bases_[s] = sources_[s]->bases(stretch.first, n, &buffer_[s * n]);
    }
    stretch.species = bases_.data();
    return stretch;
  }

 private:
  const SequenceSources& sources_;
  std::vector<const char*> bases_;
  std::vector<char> buffer_;
  std::int64_t length_;
  std::int64_t reach_;
};

}  // namespace ancify
