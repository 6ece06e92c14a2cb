// Byte pair encoding: tokens of DNA by a list of merges, as tokenizer.json has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ancify {

class BpeTokeniser {
 public:
  BpeTokeniser() = default;
  // FormatError if the file is damaged, or has a setting that is not read: a model other than BPE,
  // a normaliser, other pre-tokens than by whitespace, marks of words, bytes instead of letters.
  static BpeTokeniser read(const std::string& path);

  // [CLS], the tokens of a text in UTF-8, [SEP]. Each letter without a token is [UNK], and is added
  // to `unknown`. Case matters, and names such as [SEP] in a text are letters.
  std::vector<std::int32_t> encode(std::string_view text, std::int64_t& unknown) const;

  // All tokens, by their numbers; empty texts for numbers that no token has.
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  class Word;

  // Two tokens that become one. Those of a lower rank go first.
  struct Merge {
    std::int32_t rank;
    std::int32_t merged;
  };
  // The place of a pair in the table, or the free one that it would have.
  std::size_t slot_of(std::uint64_t pair) const;
  // Null if the two do not merge.
  const Merge* find_merge(std::int32_t left, std::int32_t right) const;

  std::vector<std::string> tokens_;
  std::vector<std::int32_t> of_letter_;  // of each ASCII letter; -1 without a token
  std::vector<std::uint64_t> pairs_;     // an open table of hashes, half full at most
  std::vector<Merge> merges_;            // beside it
  std::int32_t cls_ = 0;
  std::int32_t sep_ = 0;
  std::int32_t unknown_ = 0;
  bool splits_signs_ = false;  // whether letters and other signs are pre-tokens of their own
};

}  // namespace ancify
