// Converts lists of R to structs of C++. A struct has one table of its fields, by which lists are
// read; `.ci/fields.R` compares the tables with the lists that R makes by core_list().
#pragma once

#include <Rcpp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rcpp_glue.h"

// The table of a struct's fields: a specialisation has
//   static constexpr auto table = fields("GridFields", field("time", &GridFields::time), ...);
template <class Struct>
struct Fields;

// Throws the internal error for a list that does not fit its struct. `field` may be "".
[[noreturn]] void refuse_field(const char* of, const std::string& field,
                               const std::string& problem);

// A fault in a value; the reader of its list adds the names of struct and field.
struct FieldFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- Values -------------------------------------------------------------------------------------

// Single values, which are not NA.
bool as_flag(SEXP value);
double as_number(SEXP value);
std::string as_text(SEXP value);

// Throws FieldFault unless the value has the type of a vector that R converts to `type`.
void check_vector(SEXP value, SEXPTYPE type);

// Reads a value of R as `Value`.
template <class Value, class = void>
struct FromR;

template <>
struct FromR<bool> {
  static bool read(SEXP value) { return as_flag(value); }
};

template <>
struct FromR<std::string> {
  static std::string read(SEXP value) { return as_text(value); }
};

template <class Number>
struct FromR<Number, std::enable_if_t<std::is_floating_point<Number>::value>> {
  static Number read(SEXP value) { return static_cast<Number>(as_number(value)); }
};

template <class Integer>
struct FromR<Integer, std::enable_if_t<std::is_integral<Integer>::value>> {
  static Integer read(SEXP value) {
    const double number = as_number(value);
    if (!fits_integer<Integer>(number)) throw FieldFault("is out of range");
    return static_cast<Integer>(number);
  }
};

template <int type, template <class> class Storage>
struct FromR<Rcpp::Vector<type, Storage>> {
  static Rcpp::Vector<type, Storage> read(SEXP value) {
    check_vector(value, type);
    return Rcpp::Vector<type, Storage>(value);
  }
};

template <int type, template <class> class Storage>
struct FromR<Rcpp::Matrix<type, Storage>> {
  static Rcpp::Matrix<type, Storage> read(SEXP value) {
    check_vector(value, type);
    if (!Rf_isMatrix(value)) throw FieldFault("is not a matrix");
    return Rcpp::Matrix<type, Storage>(value);
  }
};

template <>
struct FromR<Rcpp::DataFrame> {
  static Rcpp::DataFrame read(SEXP value) {
    if (!Rf_inherits(value, "data.frame")) throw FieldFault("is not a data frame");
    return Rcpp::DataFrame(value);
  }
};

template <>
struct FromR<Rcpp::RObject> {
  static Rcpp::RObject read(SEXP value) { return value; }
};

// Vectors of numbers may have NaN; NA is one. Vectors of integers and texts have no NA.
template <>
struct FromR<std::vector<double>> {
  static std::vector<double> read(SEXP value) {
    check_vector(value, REALSXP);
    return Rcpp::as<std::vector<double>>(value);
  }
};
template <>
struct FromR<std::vector<int>> {
  static std::vector<int> read(SEXP value);
};
template <>
struct FromR<std::vector<std::string>> {
  static std::vector<std::string> read(SEXP value);
};

template <std::size_t n>
struct FromR<std::array<double, n>> {
  static std::array<double, n> read(SEXP value) {
    const auto given = FromR<std::vector<double>>::read(value);
    if (given.size() != n) throw FieldFault("does not have " + std::to_string(n) + " numbers");
    std::array<double, n> result;
    std::copy(given.begin(), given.end(), result.begin());
    return result;
  }
};

// NULL means no value.
template <class Value>
struct FromR<std::optional<Value>> {
  static std::optional<Value> read(SEXP value) {
    if (Rf_isNull(value)) return std::nullopt;
    return FromR<Value>::read(value);
  }
};

// An object of the core that R keeps.
template <class Object>
struct FromR<Object*> {
  static Object* read(SEXP value) {
    if (TYPEOF(value) != EXTPTRSXP) throw FieldFault("is not a pointer");
    if (R_ExternalPtrAddr(value) == nullptr) throw FieldFault("is a pointer of another session");
    return static_cast<Object*>(R_ExternalPtrAddr(value));
  }
};

// ---- Tables -------------------------------------------------------------------------------------

// `place`: a pointer to a member, or a function of the struct that returns a reference. `read`:
// converts a value of its argument's type.
template <class Place, class Read>
struct Field {
  const char* name;
  Place place;
  Read read;
  bool has_default = false;
};

// The place of a member of a member.
template <class Outer, class Inner>
struct Within {
  Outer outer;
  Inner inner;
  template <class Struct>
  constexpr auto& operator()(Struct& from) const {
    return std::invoke(inner, std::invoke(outer, from));
  }
};

template <class Outer, class Inner>
constexpr Within<Outer, Inner> within(Outer outer, Inner inner) {
  return {outer, inner};
}

template <class Value>
Value unchanged(Value value) {
  return value;
}

template <class Struct, class Member>
constexpr auto field(const char* name, Member Struct::*member) {
  return Field<Member Struct::*, Member (*)(Member)>{name, member, &unchanged<Member>};
}

template <class Outer, class Struct, class Member>
constexpr auto field(const char* name, Within<Outer, Member Struct::*> place) {
  return Field<Within<Outer, Member Struct::*>, Member (*)(Member)>{name, place,
                                                                    &unchanged<Member>};
}

template <class Place, class Value, class Given>
constexpr auto field(const char* name, Place place, Value (*read)(Given)) {
  return Field<Place, Value (*)(Given)>{name, place, read};
}

// A field that keeps the struct's own default if it is NULL.
template <class... Arguments>
constexpr auto field_or_default(const char* name, Arguments... arguments) {
  auto made = field(name, arguments...);
  made.has_default = true;
  return made;
}

// The value that belongs to a name in `all`.
template <class Value>
Value choice(const std::string& name, std::initializer_list<std::pair<const char*, Value>> all) {
  for (const auto& [known, value] : all) {
    if (name == known) return value;
  }
  throw FieldFault("is `" + name + "`, which is unknown");
}

template <class... All>
struct FieldTable {
  const char* name;
  std::tuple<All...> all;
};

// Makes the table of the fields of a list from R.
template <class... All>
constexpr FieldTable<All...> fields(const char* name, All... all) {
  return {name, {all...}};
}

// ---- Lists --------------------------------------------------------------------------------------

// The list's elements in the order of `names`. Throws the internal error if it lacks one, or has
// another.
std::vector<SEXP> elements_of(SEXP list, const char* of, const std::vector<const char*>& names);

template <class Struct, class Place, class Value, class Given>
void read_field(const char* of, const Field<Place, Value (*)(Given)>& field, SEXP value,
                Struct& into) {
  if (field.has_default && Rf_isNull(value)) return;
  try {
    std::invoke(field.place, into) = field.read(FromR<std::decay_t<Given>>::read(value));
  } catch (const FieldFault& fault) {
    refuse_field(of, field.name, fault.what());
  }
}

// The struct of a list. Elements of R must outlive members that point to them.
template <class Struct>
Struct from_list(SEXP list) {
  constexpr auto table = Fields<Struct>::table;
  return std::apply(
      [&](const auto&... all) {
        const std::vector<SEXP> values = elements_of(list, table.name, {all.name...});
        Struct result{};
        std::size_t i = 0;
        (read_field(table.name, all, values[i++], result), ...);
        return result;
      },
      table.all);
}

// Structs in lists.
template <class Struct>
struct FromR<Struct, std::void_t<decltype(Fields<Struct>::table)>> {
  static Struct read(SEXP value) { return from_list<Struct>(value); }
};

template <class Struct>
struct FromR<std::vector<Struct>, std::void_t<decltype(Fields<Struct>::table)>> {
  static std::vector<Struct> read(SEXP value) {
    check_vector(value, VECSXP);
    std::vector<Struct> result;
    for (R_xlen_t i = 0; i < Rf_xlength(value); ++i) {
      result.push_back(from_list<Struct>(VECTOR_ELT(value, i)));
    }
    return result;
  }
};

// ---- State --------------------------------------------------------------------------------------

// The core writes lists of state, and reads them again. The fields in a table of state_fields are
// also written.

// `write`: the inverse of `read`.
template <class Place, class Value, class Given>
struct StateField : Field<Place, Value (*)(Given)> {
  Given (*write)(const Value&);
};

template <class Value>
Value copied(const Value& value) {
  return value;
}

template <class Struct, class Member>
constexpr auto state_field(const char* name, Member Struct::*member) {
  return StateField<Member Struct::*, Member, Member>{{name, member, &unchanged<Member>},
                                                      &copied<Member>};
}

template <class Struct, class Member, class Given>
constexpr auto state_field(const char* name, Member Struct::*member, Member (*read)(Given),
                           Given (*write)(const Member&)) {
  return StateField<Member Struct::*, Member, Given>{{name, member, read}, write};
}

template <class... All>
constexpr FieldTable<All...> state_fields(const char* name, All... all) {
  return {name, {all...}};
}

// The list from which from_list() reads the struct again. It receives each element as soon as it
// exists: the list alone protects elements from R's garbage collector.
template <class Struct>
Rcpp::List to_list(const Struct& from) {
  return std::apply(
      [&](const auto&... all) {
        Rcpp::List list(sizeof...(all));
        R_xlen_t next = 0;
        ((list[next++] = Rcpp::wrap(all.write(std::invoke(all.place, from)))), ...);
        list.names() = Rcpp::CharacterVector::create(all.name...);
        return list;
      },
      Fields<Struct>::table.all);
}
