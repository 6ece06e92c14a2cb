#include "core/ancestry/calling/methods.h"

#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/phylogeny/likelihood.h"
#include "core/ancestry/phylogeny/parsimony.h"
#include "core/exec/errors.h"

namespace ancify {

namespace {

using Made = std::unique_ptr<const Method>;

// What a method needs; InputError where it is missing, or for another number of outgroups.
template <class Value>
const Value& needed(const MethodOptions& options, const std::optional<Value>& value,
                    const std::string& what, int (Value::*outgroups)() const) {
  if (!value) throw InputError("the method \"" + options.name + "\" needs a " + what);
  const int species = options.voting.species();
  const int has = ((*value).*outgroups)();
  if (has != species) {
    throw InputError("the " + what + " has " + std::to_string(has) + " outgroups, but there are " +
                     std::to_string(species));
  }
  return *value;
}

const Tree& tree_of(const MethodOptions& options) {
  return needed(options, options.tree, "tree", &Tree::species);
}

const History& history_of(const MethodOptions& options) {
  return needed(options, options.history, "history", &History::outgroups);
}

struct NamedMethod {
  const char* name;
  Made (*make)(const MethodOptions&, const JobControl&);
};

const NamedMethod kMethods[] = {
    {"voting",
     [](const MethodOptions& o, const JobControl& /*control*/) -> Made {
       return std::make_unique<VotingMethod>(o.voting);
     }},
    {"parsimony",
     [](const MethodOptions& o, const JobControl& /*control*/) -> Made {
       return std::make_unique<Parsimony>(tree_of(o));
     }},
    {"likelihood",
     [](const MethodOptions& o, const JobControl& /*control*/) -> Made {
       return std::make_unique<Likelihood>(tree_of(o), SubstitutionModel(o.rates), o.thresholds);
     }},
    {"coalescent",
     [](const MethodOptions& o, const JobControl& control) -> Made {
       return std::make_unique<CoalescentMethod>(
           history_of(o), mutation_model(o.rates, o.mutation_rate), o.thresholds, control);
     }},
};

}  // namespace

std::unique_ptr<const Method> make_method(const MethodOptions& options, const JobControl& control) {
  std::string names;
  for (const auto& method : kMethods) {
    if (method.name == options.name) return method.make(options, control);
    names += (names.empty() ? "\"" : ", \"") + std::string(method.name) + "\"";
  }
  throw InputError("there is no method \"" + options.name + "\"; there are " + names +
                   " and \"ml\"");
}

Caller make_caller(const MethodOptions& options, const Backend& backend, bool with_phred,
                   const JobControl& control) {
  if (options.name != "ml") return Caller(make_method(options, control), backend, with_phred);
  const auto& [n_inner, n_outer, min_inner, min_outer] = options.voting;
  return Caller(std::make_unique<MlCaller>(options.model_path, n_inner, n_outer, options.thresholds,
                                           TaskContext(control)),
                backend, with_phred);
}

}  // namespace ancify
