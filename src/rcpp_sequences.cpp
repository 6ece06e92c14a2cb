// Sets of Biostrings are ranges in XVector's vectors of bytes. XVector's C interface is looked up
// at each call, as the package is only suggested.
#include "rcpp_sequences.h"

#include <R_ext/Rdynload.h>

#include <algorithm>
#include <utility>

#include "rcpp_fields.h"

namespace {

// A function of XVector_interface.h.
template <class Function>
Function* xvector_function(const char* name) {
  return reinterpret_cast<Function*>(R_GetCCallable("XVector", name));
}

// The vectors of bytes of a list of SharedRaw.
std::vector<const Rbyte*> bytes_of_pool(const Rcpp::List& pool) {
  std::vector<const Rbyte*> bytes;
  Rcpp::unwindProtect([&] {
    const auto tag_of = xvector_function<SEXP(SEXP)>("_get_SharedVector_tag");
    for (const SEXP shared : pool) bytes.push_back(RAW(tag_of(shared)));
    return R_NilValue;
  });
  return bytes;
}

struct SetFields {
  Rcpp::List pool;
  Rcpp::IntegerVector group;
  Rcpp::IntegerVector start;
  Rcpp::IntegerVector width;
  Rcpp::RawVector letters;
};

struct JoinedFields {
  Rcpp::RawVector codes;
  std::size_t part_size;
};

}  // namespace

template <>
struct Fields<SetFields> {
  using All = SetFields;
  static constexpr auto table = fields(
      "SequenceSet", field("pool", &All::pool), field("group", &All::group),
      field("start", &All::start), field("width", &All::width), field("letters", &All::letters));
};

template <>
struct Fields<JoinedFields> {
  using All = JoinedFields;
  static constexpr auto table =
      fields("JoinedAs", field("codes", &All::codes), field("part_size", &All::part_size));
};

std::vector<std::string_view> as_views(const Rcpp::CharacterVector& texts) {
  std::vector<std::string_view> views;
  for (R_xlen_t i = 0; i < texts.size(); ++i) {
    const SEXP text = STRING_ELT(texts, i);
    views.emplace_back(CHAR(text), static_cast<std::size_t>(Rf_xlength(text)));
  }
  return views;
}

Sequences::Sequences(SEXP sequences) {
  if (Rf_isString(sequences)) {
    views_ = as_views(sequences);
  } else {
    add_set(sequences);
  }
}

void Sequences::add_set(const Rcpp::List& set) {
  const auto [shared, group, start, width, letters] = from_list<SetFields>(set);
  const auto pool = bytes_of_pool(shared);
  letters_.assign(letters.begin(), letters.end());
  for (R_xlen_t i = 0; i < width.size(); ++i) {
    const Rbyte* codes = pool[static_cast<std::size_t>(group[i] - 1)] + (start[i] - 1);
    views_.emplace_back(reinterpret_cast<const char*>(codes), static_cast<std::size_t>(width[i]));
  }
}

std::string_view Sequences::letters(std::size_t i, std::string& room) const {
  const std::string_view view = views_[i];
  if (letters_.empty()) return view;
  room.resize(view.size());
  std::transform(view.begin(), view.end(), room.begin(),
                 [&](char code) { return letters_[static_cast<unsigned char>(code)]; });
  return room;
}

std::size_t part_size(const Rcpp::List& how) { return from_list<JoinedFields>(how).part_size; }

Rcpp::List as_joined(ancify::JoinedTexts& texts, const Rcpp::List& how) {
  const Rcpp::RawVector table = from_list<JoinedFields>(how).codes;
  const Rbyte* codes = table.begin();
  const auto n = static_cast<R_xlen_t>(texts.places().size());
  Rcpp::IntegerVector part(n);
  Rcpp::IntegerVector start(n);
  Rcpp::IntegerVector width(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const ancify::JoinedTexts::Place& place = texts.places()[static_cast<std::size_t>(i)];
    part[i] = static_cast<int>(place.part + 1);
    start[i] = static_cast<int>(place.start + 1);
    width[i] = static_cast<int>(place.length);
  }
  Rcpp::List parts(static_cast<R_xlen_t>(texts.parts().size()));
  for (std::size_t i = 0; i < texts.parts().size(); ++i) {
    std::string text = std::move(texts.parts()[i]);
    const Rcpp::Shield<SEXP> bytes(Rcpp::unwindProtect(
        [&] { return Rf_allocVector(RAWSXP, static_cast<R_xlen_t>(text.size())); }));
    std::transform(text.begin(), text.end(), RAW(bytes),
                   [&](char letter) { return codes[static_cast<unsigned char>(letter)]; });
    parts[static_cast<R_xlen_t>(i)] = static_cast<SEXP>(bytes);
  }
  using Rcpp::Named;
  return Rcpp::List::create(Named("parts") = parts, Named("part") = part, Named("start") = start,
                            Named("width") = width);
}

// A set of class `set`, of strings of class `string`. For each part, `ranges` is an IRanges with a
// range for each string.
// [[Rcpp::export]]
SEXP set_of_parts_impl(const std::string& set, const std::string& string, const Rcpp::List& parts,
                       const Rcpp::IntegerVector& part, const Rcpp::S4& ranges) {
  return Rcpp::unwindProtect([&] {
    const auto make = xvector_function<SEXP(const char*, const char*, SEXP, SEXP, SEXP)>(
        "_new_XRawList_from_tags");
    return make(set.c_str(), string.c_str(), parts, ranges, part);
  });
}
