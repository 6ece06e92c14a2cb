// The methods, by their names.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/ancestry/calling/calling.h"
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

// A context-free method. InputError where the name is none, an option is missing, or has a value
// that cannot be. Some take a while to be made, which `control` can stop.
std::unique_ptr<const Method> make_method(const MethodOptions& options,
                                          const JobControl& control = JobControl());

// What calls by any method, "ml" too.
Caller make_caller(const MethodOptions& options, const Backend& backend, bool with_phred,
                   const JobControl& control = JobControl());

}  // namespace ancify
