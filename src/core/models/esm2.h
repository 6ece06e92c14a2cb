// ESM-2: its letters, and its encoder from a folder of files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/encoder.h"
#include "core/models/model_folder.h"
#include "core/models/tensors.h"

namespace ancify {

// The tokens of a model, in the order of the rows of its embedding.
class ProteinAlphabet {
 public:
  // The 33 tokens of ESM-2.
  ProteinAlphabet();
  // The tokens of vocab.txt, one per line, or of tokenizer.json. FormatError if a token is
  // repeated, or a required one is missing: a special token, or one of the 20 residues.
  static ProteinAlphabet read(const std::string& path);

  const std::vector<std::string>& tokens() const { return tokens_; }
  std::int32_t mask() const { return mask_; }

  // The tokens of a sequence, UTF-8, between <cls> and <eos>. Letters are upper-cased; letters
  // without a token become <unk>, and are counted in `unknown`. "<mask>" is one token.
  std::vector<std::int32_t> encode(std::string_view sequence, std::int64_t& unknown) const;
  std::int32_t cls() const { return cls_; }
  std::int32_t eos() const { return eos_; }

 private:
  explicit ProteinAlphabet(std::vector<std::string> tokens, const std::string& file);

  std::vector<std::string> tokens_;
  std::vector<std::int32_t> of_letter_;
  std::int32_t cls_ = 0;
  std::int32_t eos_ = 0;
  std::int32_t unknown_ = 0;
  std::int32_t mask_ = 0;
};

// A folder with weights, and optionally config.json and vocab.txt.
class Esm2Files {
 public:
  // Reads all but the weights. FileError if a required file is missing, FormatError if files are
  // damaged, disagree, or belong to another model.
  static Esm2Files open(const std::string& folder, const InputIdentities& inputs);

  const ModelDescription& description() const { return description_; }
  const ProteinAlphabet& alphabet() const { return alphabet_; }
  // Reads the weights. FormatError if a tensor is missing or has another shape.
  Encoder read(const TaskContext& context) const;

 private:
  // With a reader that only checks, returns an encoder without weights.
  Encoder assemble(const WeightReader& reader) const;

  ModelDescription description_;
  ProteinAlphabet alphabet_;
  Checkpoint checkpoint_;
};

// The factor of embeddings: ESM-2 was trained with 12 % of tokens masked, 0.88 / (1 - masked /
// tokens).
float embedding_scale(const std::vector<std::int32_t>& tokens, std::int32_t mask);

}  // namespace ancify
