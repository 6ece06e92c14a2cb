// Writes R's lists of plain values as JSON.
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_set>

#include "rcpp_glue.h"

namespace {

// Writes what jsonlite would write. False for values that it may write in another form than these.
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

bool write_whole_number(double x, std::string& json) {
  constexpr double limit = 1e9;
  if (!(x > 0 && x < limit && x == std::floor(x))) return false;
  json += std::to_string(static_cast<std::int64_t>(x));
  return true;
}

bool write_value(SEXP x, std::string& json) {
  switch (TYPEOF(x)) {
    case STRSXP:
      return write_text(STRING_ELT(x, 0), json);
    case LGLSXP:
      json += LOGICAL(x)[0] == 0 ? "false" : "true";
      return LOGICAL(x)[0] != NA_LOGICAL;
    case INTSXP:
      return write_whole_number(INTEGER(x)[0], json);
    case REALSXP:
      return write_whole_number(REAL(x)[0], json);
    default:
      return false;
  }
}

// jsonlite changes names that are empty or repeated.
bool write_list(SEXP x, std::string& json) {
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
    const SEXP value = VECTOR_ELT(x, i);
    if (Rf_isNull(value)) {
      json += "null";
    } else if (!write_json(value, json)) {
      return false;
    }
  }
  json += has_names ? '}' : ']';
  return true;
}

bool write_json(SEXP x, std::string& json) {
  if (Rf_isObject(x)) return false;
  const bool is_list = TYPEOF(x) == VECSXP;
  for (const std::string& attribute : Rcpp::RObject(x).attributeNames()) {
    if (!is_list || attribute != "names") return false;
  }
  if (is_list) return write_list(x, json);
  const bool is_vector =
      TYPEOF(x) == STRSXP || TYPEOF(x) == LGLSXP || TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP;
  if (!is_vector || Rf_xlength(x) > 1) return false;
  if (Rf_xlength(x) == 1) return write_value(x, json);
  json += "[]";
  return true;
}

}  // namespace

// The JSON of a list whose values are single, or NULL or empty, and need no escapes; else NULL.
// [[Rcpp::export]]
Rcpp::RObject plain_json_impl(const Rcpp::RObject& x) {
  std::string json;
  if (!write_json(x, json)) return R_NilValue;
  return Rcpp::wrap(json);
}
