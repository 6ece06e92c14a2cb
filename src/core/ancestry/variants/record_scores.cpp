// Finds a record's score by its position and its alleles.
#include "core/ancestry/variants/record_scores.h"

#include <algorithm>

#include "core/genome/bases.h"

namespace ancify {

void RecordScores::begin_chromosome(const std::string& name) {
  const auto found = scores_.find(name);
  here_ = found == scores_.end() ? nullptr : &found->second;
}

const RecordScore* RecordScores::at(const VariantReader& reader, int ancestral) const {
  if (here_ == nullptr || reader.alleles() != 2) return nullptr;
  const int ref = base_code(reader.allele(0).front());
  const int alt = base_code(reader.allele(1).front());
  const int derived = ref == ancestral ? alt : ref;
  const std::int64_t position = reader.position();
  auto at =
      std::lower_bound(here_->begin(), here_->end(), position,
                       [](const RecordScore& score, std::int64_t p) { return score.position < p; });
  for (; at != here_->end() && at->position == position; ++at) {
    if (at->ancestral == ancestral && at->derived == derived) return &*at;
  }
  return nullptr;
}

}  // namespace ancify
