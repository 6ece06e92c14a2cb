// Reads fields of R's lists, and refuses lists that do not fit their structs.
#include "rcpp_fields.h"

#include <algorithm>
#include <cstring>

void refuse_field(const char* of, const std::string& field, const std::string& problem) {
  const std::string named = field.empty() ? "the list for " : "the field `" + field + "` of ";
  abort_from_core("internal", named + of + " " + problem,
                  Rcpp::List::create(Rcpp::Named("struct") = of, Rcpp::Named("field") = field));
  throw std::logic_error("abort_from_core() passes errors on");
}

namespace {

void check_single(SEXP value, bool has_type, const char* type) {
  if (!has_type || Rf_xlength(value) != 1) throw FieldFault(std::string("is not a single ") + type);
}

}  // namespace

bool as_flag(SEXP value) {
  check_single(value, Rf_isLogical(value), "TRUE or FALSE");
  const int flag = LOGICAL(value)[0];
  if (flag == NA_LOGICAL) throw FieldFault("is NA");
  return flag != 0;
}

double as_number(SEXP value) {
  check_single(value, TYPEOF(value) == REALSXP || TYPEOF(value) == INTSXP, "number");
  const double number = Rf_asReal(value);
  if (std::isnan(number)) throw FieldFault("is NA");
  return number;
}

std::string as_text(SEXP value) {
  check_single(value, Rf_isString(value), "text");
  if (STRING_ELT(value, 0) == NA_STRING) throw FieldFault("is NA");
  return CHAR(STRING_ELT(value, 0));
}

void check_vector(SEXP value, SEXPTYPE type) {
  const SEXPTYPE given = TYPEOF(value);
  const bool numbers = type == REALSXP || type == INTSXP;
  // R's plain NA is logical.
  if (given == type || (numbers && (given == REALSXP || given == INTSXP || given == LGLSXP)))
    return;
  throw FieldFault(std::string("is of type ") + Rf_type2char(given) + ", not " +
                   Rf_type2char(type));
}

std::vector<int> FromR<std::vector<int>>::read(SEXP value) {
  check_vector(value, INTSXP);
  const Rcpp::NumericVector numbers(value);
  std::vector<int> result;
  for (const double number : numbers) {
    if (!fits_integer<int>(number)) throw FieldFault("has an element that is NA or out of range");
    result.push_back(static_cast<int>(number));
  }
  return result;
}

std::vector<std::string> FromR<std::vector<std::string>>::read(SEXP value) {
  check_vector(value, STRSXP);
  for (R_xlen_t i = 0; i < Rf_xlength(value); ++i) {
    if (STRING_ELT(value, i) == NA_STRING) throw FieldFault("has an element that is NA");
  }
  return Rcpp::as<std::vector<std::string>>(value);
}

std::vector<SEXP> elements_of(SEXP list, const char* of, const std::vector<const char*>& names) {
  if (TYPEOF(list) != VECSXP) refuse_field(of, "", "is no list");
  const SEXP given = Rf_getAttrib(list, R_NamesSymbol);
  std::vector<SEXP> elements(names.size(), nullptr);
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    const char* const name = Rf_isNull(given) ? "" : CHAR(STRING_ELT(given, i));
    if (*name == '\0') refuse_field(of, "", "has an element without a name");
    const auto at = static_cast<std::size_t>(
        std::find_if(names.begin(), names.end(),
                     [&](const char* wanted) { return std::strcmp(wanted, name) == 0; }) -
        names.begin());
    if (at == names.size()) refuse_field(of, name, "is unknown");
    if (elements[at] != nullptr) refuse_field(of, name, "is given twice");
    elements[at] = VECTOR_ELT(list, i);
  }
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (elements[at] == nullptr) refuse_field(of, names[at], "is missing");
  }
  return elements;
}
