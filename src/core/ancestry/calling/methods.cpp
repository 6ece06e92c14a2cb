// The registry of the calling methods, and their construction from options.
#include "core/ancestry/calling/methods.h"

#include "core/ancestry/calling/class_caller.h"
#include "core/ancestry/calling/ml_calling.h"
#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/phylogeny/likelihood.h"
#include "core/ancestry/phylogeny/parsimony.h"
#include "core/exec/errors.h"

namespace ancify {

namespace {

// A required option. Throws InputError if it is missing or has another number of outgroups.
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

// The rates of each class of neighbours, or common rates for all sites.
std::vector<SubstitutionRates> all_rates(const MethodOptions& options) {
  if (!options.class_rates.empty()) return options.class_rates;
  return {options.rates};
}

// A method for each class of neighbours.
std::vector<std::unique_ptr<const Method>> methods_of_classes(const MakePatternMethod& make,
                                                              const MethodOptions& options,
                                                              const JobControl& control) {
  if (options.class_rates.size() != kNeighbourClasses) {
    throw InputError("there are " + std::to_string(options.class_rates.size()) +
                     " models by class of neighbours, not " + std::to_string(kNeighbourClasses));
  }
  std::vector<std::unique_ptr<const Method>> methods;
  MethodOptions of_class = options;
  for (const SubstitutionRates& rates : options.class_rates) {
    of_class.rates = rates;
    methods.push_back(make(of_class, control));
  }
  return methods;
}

// The method of this name; throws an InputError that lists all names if it is unknown.
const CallingMethod& method_called(const std::string& name,
                                   const std::vector<CallingMethod>& methods) {
  std::string names;
  for (const auto& method : methods) {
    if (method.name == name) return method;
    names += (names.empty() ? "\"" : ", \"") + method.name + "\"";
  }
  throw InputError("there is no method \"" + name + "\"; the methods are " + names);
}

}  // namespace

const std::vector<CallingMethod>& calling_methods() {
  using Options = const MethodOptions&;
  using Control = const JobControl&;
  static const std::vector<CallingMethod> methods = {
      {"voting", MakePatternMethod([](Options options, Control /*control*/) {
         return std::make_unique<VotingMethod>(options.voting);
       }),
       OnDevices::kAlways},
      {"parsimony", MakePatternMethod([](Options options, Control /*control*/) {
         return std::make_unique<Parsimony>(tree_of(options), options.voting.ties);
       })},
      {"likelihood", MakePatternMethod([](Options options, Control /*control*/) {
         return std::make_unique<Likelihood>(tree_of(options), SubstitutionModel(options.rates),
                                             options.thresholds);
       })},
      {"coalescent", MakePatternMethod([](Options options, Control control) {
         return std::make_unique<CoalescentMethod>(
             history_of(options), mutation_model(options.rates, options.mutation_rate),
             options.thresholds, control);
       })},
      {"ml", MakeStretchCaller([](Options options, Control control) {
         return std::make_unique<MlCaller>(options.model_path, options.voting.n_inner,
                                           options.voting.n_outer, options.thresholds,
                                           TaskContext(control));
       }),
       OnDevices::kAlways},
  };
  return methods;
}

std::unique_ptr<const Method> make_method(const MethodOptions& options, const JobControl& control) {
  const auto& method = method_called(options.name, calling_methods());
  const auto* const make = std::get_if<MakePatternMethod>(&method.make);
  if (make != nullptr) return (*make)(options, control);
  throw InputError("the method \"" + options.name +
                   "\" also uses neighbouring positions, so it cannot be applied to site patterns");
}

Caller make_caller(const MethodOptions& options, const Backend& backend, bool with_phred,
                   const JobControl& control, const std::vector<CallingMethod>& methods) {
  const auto& method = method_called(options.name, methods);
  if (const auto* const make = std::get_if<MakeStretchCaller>(&method.make)) {
    return {(*make)(options, control), backend, with_phred};
  }
  const auto& make = std::get<MakePatternMethod>(method.make);
  if (options.class_rates.empty()) return {make(options, control), backend, with_phred};
  return {std::make_unique<ClassCaller>(methods_of_classes(make, options, control), with_phred),
          backend, with_phred};
}

std::unique_ptr<const KnownSites> make_known_sites(const MethodOptions& options,
                                                   JobControl& control) {
  MutationModels models;
  for (const SubstitutionRates& rates : all_rates(options)) {
    models.push_back(mutation_model(rates, options.mutation_rate));
  }
  return std::make_unique<const KnownSites>(options.variants, history_of(options), models,
                                            options.thresholds, control);
}

}  // namespace ancify
