// The registry of calling methods.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/stretch_caller.h"
#include "core/ancestry/coalescent/history.h"
#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/voting.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"
#include "core/ancestry/variants/known_sites.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"

namespace ancify {

// The options of all methods.
struct MethodOptions {
  std::string name = "voting";
  // The tiers' sizes, for all methods; the minima, for voting; ties, for voting and parsimony.
  Voting voting;
  std::optional<Tree> tree;
  std::optional<History> history;
  double mutation_rate = 1.25e-8;  // per site and generation, along the history
  SubstitutionRates rates;
  std::vector<SubstitutionRates> class_rates;  // of each class of neighbours; none: `rates` for all
  Thresholds thresholds;
  std::string model_path;    // LightGBM's text of the trained model, for ml
  KnownSitesFiles variants;  // for coalescent: sites that vary; none without paths
};

// Makes a method. InputError if an option is missing or has an invalid value. The job's control can
// stop a slow one.
using MakePatternMethod =
    std::function<std::unique_ptr<const Method>(const MethodOptions&, const JobControl&)>;
using MakeStretchCaller =
    std::function<std::unique_ptr<const StretchCaller>(const MethodOptions&, const JobControl&)>;

// The number of species for which devices can apply a method.
enum class OnDevices {
  kTabulated,  // at most kMostTabulated, by the table of all patterns
  kAlways,     // any number
};

struct CallingMethod {
  std::string name;
  // A method of a single position, or one that also uses the positions around it.
  std::variant<MakePatternMethod, MakeStretchCaller> make;
  OnDevices on_devices = OnDevices::kTabulated;
};

// The registry: one row a method.
const std::vector<CallingMethod>& calling_methods();

// The context-free method options.name. InputError if there is none, or for a missing or invalid
// option.
std::unique_ptr<const Method> make_method(const MethodOptions& options,
                                          const JobControl& control = JobControl());

// A caller by the method options.name, one of `methods`. InputError if there is none, or for a
// missing or invalid option.
Caller make_caller(const MethodOptions& options, const Backend& backend, bool with_phred,
                   const JobControl& control = JobControl(),
                   const std::vector<CallingMethod>& methods = calling_methods());

// The sites of options.variants. InputError without a history, and like KnownSites.
std::unique_ptr<const KnownSites> make_known_sites(const MethodOptions& options,
                                                   JobControl& control);

}  // namespace ancify
