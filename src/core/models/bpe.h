// Byte pair encoding: tokens of DNA by the list of merges in tokenizer.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ancify {

class BpeTokeniser {
 public:
  BpeTokeniser() = default;
  // FormatError if the file is damaged, or has an unsupported setting: a model other than BPE, a
  // normaliser, pre-tokens other than by whitespace, word markers, bytes instead of letters.
  static BpeTokeniser read(const std::string& path);

  // [CLS], the tokens of a text in UTF-8, [SEP]. Each letter without a token becomes [UNK], and is
  // counted in `unknown`. Case matters, and names such as [SEP] in a text are letters.
  std::vector<std::int32_t> encode(std::string_view text, std::int64_t& unknown) const;

  // All tokens by index; empty texts for unused indices.
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  class Word;

  // Two tokens that merge into one. Lower ranks merge first.
  struct Merge {
    std::int32_t rank;
    std::int32_t merged;
  };
  // The slot of a pair in the table, or the free slot that it would take.
  std::size_t slot_of(std::uint64_t pair) const;
  // Null if the two do not merge.
  const Merge* find_merge(std::int32_t left, std::int32_t right) const;

  std::vector<std::string> tokens_;
  std::vector<std::int32_t> of_letter_;  // of each ASCII letter; -1 without a token
  std::vector<std::uint64_t> pairs_;     // a hash table with open addressing, at most half full
  std::vector<Merge> merges_;            // parallel to pairs_
  std::int32_t cls_ = 0;
  std::int32_t sep_ = 0;
  std::int32_t unknown_ = 0;
  bool splits_signs_ = false;  // whether letters and other signs are pre-tokens of their own
};

}  // namespace ancify
