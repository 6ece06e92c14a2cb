// Writes R's lists of plain values as JSON.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_set>

#include "rcpp_glue.h"

namespace {

// Writes values as jsonlite would. False for values that it may write in another form.
bool write_json(SEXP x, std::string& json);

// ASCII that needs no escape. jsonlite also escapes < in some places.
bool write_text(SEXP text, std::string& json) {
  if (text == NA_STRING) return false;
  const std::string bytes = CHAR(text);
  for (const char c : bytes) {
    if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<') return false;
  }
  json.append("\"").append(bytes).append("\"");
  return true;
}

// Numbers that need no exponent.
bool write_number(double x, std::string& json) {
  constexpr double least = 1e-4;
  constexpr double limit = 1e9;
  if (!((x == 0 || x >= least) && x < limit) || std::signbit(x)) return false;
  if (x == std::floor(x)) {
    json += std::to_string(static_cast<std::int64_t>(x));
  } else {
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.15g", x);
    json += digits;
  }
  return true;
}

bool write_element(SEXP x, R_xlen_t i, std::string& json) {
  switch (TYPEOF(x)) {
    case STRSXP:
      return write_text(STRING_ELT(x, i), json);
    case LGLSXP:
      json += LOGICAL(x)[i] == 0 ? "false" : "true";
      return LOGICAL(x)[i] != NA_LOGICAL;
    case INTSXP:
      return write_number(INTEGER(x)[i], json);
    case REALSXP:
      return write_number(REAL(x)[i], json);
    case VECSXP:
      if (!Rf_isNull(VECTOR_ELT(x, i))) return write_json(VECTOR_ELT(x, i), json);
      json += "null";
      return true;
    default:
      return false;
  }
}

// An array or, with names, an object. jsonlite changes names that are empty or repeated.
bool write_elements(SEXP x, std::string& json) {
  const Rcpp::RObject names = Rf_getAttrib(x, R_NamesSymbol);
  const bool has_names = !names.isNULL();
  std::unordered_set<SEXP> seen;  // R keeps each text once
  json += has_names ? '{' : '[';
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    if (i > 0) json += ',';
    if (has_names) {
      const SEXP name = STRING_ELT(names, i);
      if (name == R_BlankString || !seen.insert(name).second || !write_text(name, json))
        return false;
      json += ':';
    }
    if (!write_element(x, i, json)) return false;
  }
  json += has_names ? '}' : ']';
  return true;
}

bool is_plain(SEXP x) {
  const int type = TYPEOF(x);
  return !Rf_isObject(x) &&
         (type == VECSXP || type == STRSXP || type == LGLSXP || type == INTSXP || type == REALSXP);
}

bool write_json(SEXP x, std::string& json) {
  if (!is_plain(x)) return false;
  bool has_names = false;
  for (const std::string& attribute : Rcpp::RObject(x).attributeNames()) {
    if (attribute != "names") return false;
    has_names = true;
  }
  const bool is_single = TYPEOF(x) != VECSXP && !has_names && Rf_xlength(x) == 1;
  return is_single ? write_element(x, 0, json) : write_elements(x, json);
}

}  // namespace

// The JSON of a list with plain values, as to_json() writes it; NULL for other values.
// [[Rcpp::export]]
Rcpp::RObject plain_json_impl(const Rcpp::RObject& x) {
  std::string json;
  if (!write_json(x, json)) return R_NilValue;
  return Rcpp::wrap(json);
}
