// Scores of derived alleles, such as missense scores, at the records of a variant file.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/formats/variant/variant_file.h"

namespace ancify {

// The score of a change from the ancestral to the derived base, both codes as in bases.h.
struct RecordScore {
  std::int64_t position;  // from 1
  int ancestral;
  int derived;
  float score;
  std::string transcript;
};

// By chromosome, each sorted by position.
using ScoresByChromosome = std::unordered_map<std::string, std::vector<RecordScore>>;

class RecordScores {
 public:
  // `scores` must outlive this.
  explicit RecordScores(const ScoresByChromosome& scores) : scores_(scores) {}

  void begin_chromosome(const std::string& name);
  // The score of a record of two single bases, of which `ancestral` is one; null if there is none.
  const RecordScore* at(const VariantReader& reader, int ancestral) const;

 private:
  const ScoresByChromosome& scores_;
  const std::vector<RecordScore>* here_ = nullptr;
};

}  // namespace ancify
