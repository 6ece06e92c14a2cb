// DNABERT-S: its encoder and tokens from a folder of files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/models/bpe.h"
#include "core/models/model_folder.h"

namespace ancify {

// True if the weights have the tensors of DNABERT-S.
bool is_dnabert(const Checkpoint& checkpoint);

// A folder with weights, config.json and tokenizer.json.
class DnabertFiles {
 public:
  // Reads all but the weights. FileError if a file is missing, FormatError if files are damaged,
  // disagree, or belong to another model.
  static DnabertFiles open(const std::string& folder, const InputIdentities& inputs);

  const ModelDescription& description() const { return description_; }
  const BpeTokeniser& tokeniser() const { return tokeniser_; }
  // Reads the weights. FormatError if a tensor is missing or has another shape.
  Encoder read(const TaskContext& context) const;

 private:
  DnabertFiles(Checkpoint checkpoint, BpeTokeniser tokeniser)
      : tokeniser_(std::move(tokeniser)), checkpoint_(std::move(checkpoint)) {}

  // With a reader that only checks, returns an encoder without weights.
  Encoder assemble(const WeightReader& reader) const;

  ModelDescription description_;
  BpeTokeniser tokeniser_;
  Checkpoint checkpoint_;
};

// The slope of attention by distance (ALiBi) of each head.
std::vector<float> slopes_of(std::int64_t heads);

}  // namespace ancify
