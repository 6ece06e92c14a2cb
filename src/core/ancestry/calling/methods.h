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
#include "core/device/backend.h"
#include "core/exec/job_control.h"

namespace ancify {

// What any of the methods may want to know.
struct MethodOptions {
  std::string name = "voting";
  Voting voting;  // the tiers' sizes, which all methods need; the minima, for voting
  std::optional<Tree> tree;
  std::optional<History> history;
  double mutation_rate = 1.25e-8;  // per site and generation, along the history
  SubstitutionRates rates;
  Thresholds thresholds;
  std::string model_path;  // the text of the trained model, for ml
};

// Makes a method; InputError where an option is missing, or has a value that cannot be. Some take a
// while, which the job's control can stop.
using MakePatternMethod =
    std::function<std::unique_ptr<const Method>(const MethodOptions&, const JobControl&)>;
using MakeStretchCaller =
    std::function<std::unique_ptr<const StretchCaller>(const MethodOptions&, const JobControl&)>;

// What devices can do of a method.
enum class OnDevices {
  kTabulated,  // calls of at most kMostTabulated species, by the table of all patterns
  kAlways,     // calls of any number of species
};

struct CallingMethod {
  std::string name;
  // By a position alone, or by the positions around it too.
  std::variant<MakePatternMethod, MakeStretchCaller> make;
  OnDevices on_devices = OnDevices::kTabulated;
};

// One row a method.
const std::vector<CallingMethod>& calling_methods();

// The context-free method of this name; InputError where there is none.
std::unique_ptr<const Method> make_method(const MethodOptions& options,
                                          const JobControl& control = JobControl());

// What calls by the method of this name; InputError where there is none.
Caller make_caller(const MethodOptions& options, const Backend& backend, bool with_phred,
                   const JobControl& control = JobControl(),
                   const std::vector<CallingMethod>& methods = calling_methods());

}  // namespace ancify
