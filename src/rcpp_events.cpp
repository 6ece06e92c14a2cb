// Converts R's lists to events of demographic models.
#include "rcpp_events.h"

#include <cmath>
#include <string>
#include <vector>

#include "rcpp_fields.h"

namespace diffusion = ancify::diffusion;

namespace {

struct ParameterChange {
  std::string shape;
  double from;
  double to;
  double duration;
};

}  // namespace

template <>
struct Fields<ParameterChange> {
  using All = ParameterChange;
  static constexpr auto table =
      fields("ParameterChange", field("shape", &All::shape), field("from", &All::from),
             field("to", &All::to), field("duration", &All::duration));
};

namespace {

// Takes a number, a list for ParameterChange, or an R function of time. R's own thread
// computes the time steps, so the function is called there.
diffusion::ParameterHistory as_parameter_history(const Rcpp::RObject& history) {
  if (Rf_isFunction(history)) {
    const Rcpp::Function f(history);
    return [f](double time) {
      const Rcpp::RObject value = f(time);
      if (!Rf_isNumeric(value) || Rf_length(value) != 1) return R_NaN;
      return Rcpp::as<double>(value);
    };
  }
  if (!Rf_isNewList(history)) return [x = Rcpp::as<double>(history)](double) { return x; };
  const auto given = from_list<ParameterChange>(history);
  const double from = given.from;
  const double to = given.to;
  const double duration = given.duration;
  if (given.shape == "linear") {
    return [=](double time) { return from + (to - from) * time / duration; };
  }
  return [=](double time) { return from * std::pow(to / from, time / duration); };
}

bool is_one_history(const Rcpp::RObject& field) {
  return Rf_isFunction(field) || Rcpp::List(field).containsElementNamed("shape");
}

std::vector<diffusion::ParameterHistory> as_parameter_histories(const Rcpp::List& histories) {
  std::vector<diffusion::ParameterHistory> result;
  for (R_xlen_t i = 0; i < histories.size(); ++i)
    result.push_back(as_parameter_history(histories[i]));
  return result;
}

// Takes list(kind =, ...) with the fields of an event: numbers, a history, or a list of histories.
// The tables of these fields are the rows of event_kinds() in the core.
diffusion::Event as_event(const Rcpp::List& event) {
  std::string kind;
  diffusion::EventFields fields;
  const Rcpp::CharacterVector names = event.names();
  for (R_xlen_t i = 0; i < event.size(); ++i) {
    const auto name = Rcpp::as<std::string>(names[i]);
    const Rcpp::RObject field = event[i];
    if (name == "kind") kind = as_text(field);
    if (Rf_isString(field)) continue;
    if (Rf_isNumeric(field) || Rf_isLogical(field)) {
      fields.numbers[name] = Rcpp::as<std::vector<double>>(field);
    } else if (is_one_history(field)) {
      fields.histories[name] = {as_parameter_history(field)};
    } else {
      fields.histories[name] = as_parameter_histories(Rcpp::List(field));
    }
  }
  return diffusion::make_event(kind, fields);
}

}  // namespace

diffusion::Model as_demography(const Rcpp::List& events) {
  diffusion::Model model;
  for (R_xlen_t i = 0; i < events.size(); ++i) model.push_back(as_event(events[i]));
  return model;
}
