// Sequences between R and the core: texts, and sets of Biostrings without a string of R for each
// sequence.
#pragma once

#include <Rcpp.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/io/joined_texts.h"

// Views of the texts of a character vector, which must stay valid.
std::vector<std::string_view> as_views(const Rcpp::CharacterVector& texts);

// Sequences of R, which must stay valid: a character vector, or a set from core_sequences().
class Sequences {
 public:
  explicit Sequences(SEXP sequences);

  std::size_t size() const { return views_.size(); }
  // The letters of a sequence. `room` stores letters that are decoded from a set.
  std::string_view letters(std::size_t i, std::string& room) const;

 private:
  void add_set(const Rcpp::List& set);

  std::vector<std::string_view> views_;  // of letters, or of codes
  std::vector<char> letters_;            // of codes; empty if views are of letters
};

// The part size in a list that joined_as() makes in R.
std::size_t part_size(const Rcpp::List& how);

// Returns list(parts = raw vectors, part =, start =, width =), from which set_of_joined() makes a
// set. `how`: from joined_as(). Frees the letters of `texts`.
Rcpp::List as_joined(ancify::JoinedTexts& texts, const Rcpp::List& how);
