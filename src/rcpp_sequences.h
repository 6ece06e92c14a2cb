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

// Sequences of R, which must stay valid: a character vector, or a set as core_sequences() has it.
class Sequences {
 public:
  explicit Sequences(SEXP sequences);

  std::size_t size() const { return views_.size(); }
  // The letters of a sequence. `room` keeps those of a set.
  std::string_view letters(std::size_t i, std::string& room) const;

 private:
  void add_set(const Rcpp::List& set);

  std::vector<std::string_view> views_;  // of letters, or of codes
  std::vector<char> letters_;            // of codes; empty if views are of letters
};

// Of what joined_as() gives in R.
std::size_t part_size(const Rcpp::List& how);

// Returns list(parts = raw vectors, part =, start =, width =), from which set_of_joined() makes a
// set. `how`: as of joined_as(). Leaves no letters in `texts`.
Rcpp::List as_joined(ancify::JoinedTexts& texts, const Rcpp::List& how);
