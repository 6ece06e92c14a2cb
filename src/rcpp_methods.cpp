// Connects trees, substitution models, calling methods and their fits with the core.
#include "rcpp_methods.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/methods.h"
#include "core/ancestry/patterns/pattern_counts.h"
#include "core/ancestry/phylogeny/pattern_likelihood.h"
#include "core/exec/errors.h"
#include "core/genome/sequence_store.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"

namespace {

bool has(const Rcpp::List& list, const char* name) {
  return list.containsElementNamed(name) && !Rf_isNull(list[name]);
}

// Sets `value` to an element of a list, if it has one of this name.
template <class Value>
void take(const Rcpp::List& list, const char* name, Value& value) {
  if (has(list, name)) value = Rcpp::as<Value>(list[name]);
}

template <std::size_t n>
void take(const Rcpp::List& list, const char* name, std::array<double, n>& values) {
  if (!has(list, name)) return;
  const auto given = Rcpp::as<std::vector<double>>(list[name]);
  if (given.size() != n) {
    throw ancify::InputError(std::string("the substitution model's ") + name + " must be " +
                             std::to_string(n) + " numbers, not " + std::to_string(given.size()));
  }
  std::copy(given.begin(), given.end(), values.begin());
}

// Converts patterns from R: strings of A, C, G and T. Any other character is missing.
std::vector<std::uint8_t> as_states(const Rcpp::CharacterVector& patterns, int leaves) {
  std::vector<std::uint8_t> states;
  for (R_xlen_t i = 0; i < patterns.size(); ++i) {
    const SEXP pattern = STRING_ELT(patterns, i);
    if (LENGTH(pattern) != leaves) {
      throw ancify::InputError("the pattern \"" + std::string(CHAR(pattern)) + "\" has " +
                               std::to_string(LENGTH(pattern)) + " species, not " +
                               std::to_string(leaves));
    }
    for (int leaf = 0; leaf < leaves; ++leaf) {
      states.push_back(ancify::base_code(CHAR(pattern)[leaf]));
    }
  }
  return states;
}

Rcpp::List as_list(const ancify::PatternCounts& counts) {
  const auto n = static_cast<R_xlen_t>(counts.size());
  Rcpp::CharacterVector patterns(n);
  Rcpp::NumericVector numbers(n);
  std::string text(static_cast<std::size_t>(counts.leaves), 'N');
  for (R_xlen_t i = 0; i < n; ++i) {
    const std::uint8_t* states = counts.pattern(static_cast<std::size_t>(i));
    std::transform(states, states + counts.leaves, text.begin(), ancify::upper_base);
    SET_STRING_ELT(patterns, i, make_string(text.data(), counts.leaves));
    numbers[i] = static_cast<double>(counts.counts[static_cast<std::size_t>(i)]);
  }
  return Rcpp::List::create(Rcpp::Named("pattern") = patterns, Rcpp::Named("count") = numbers);
}

}  // namespace

ancify::Tree as_tree(const Rcpp::List& tree, int species) {
  const auto parent = Rcpp::as<std::vector<int>>(tree["parent"]);
  const auto length = Rcpp::as<std::vector<double>>(tree["length"]);
  const auto leaf = Rcpp::as<std::vector<int>>(tree["leaf"]);
  const auto name = Rcpp::as<std::vector<std::string>>(tree["name"]);
  if (length.size() != parent.size() || leaf.size() != parent.size() ||
      name.size() != parent.size()) {
    throw ancify::InputError("the tree's arrays differ in length");
  }
  std::vector<ancify::TreeNode> nodes;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    const int stands_for = leaf[i] < 0    ? ancify::kFocalLeaf
                           : leaf[i] == 0 ? ancify::kNoLeaf
                                          : leaf[i] - 1;
    nodes.push_back({parent[i] - 1, length[i], stands_for, name[i]});
  }
  return {nodes, species};
}

ancify::SubstitutionRates as_rates(const Rcpp::List& model) {
  ancify::SubstitutionRates rates;
  take(model, "exchangeabilities", rates.exchangeabilities);
  take(model, "frequencies", rates.frequencies);
  take(model, "n_rates", rates.n_rates);
  take(model, "invariant", rates.invariant);
  take(model, "rate", rates.rate);
  double alpha = std::numeric_limits<double>::quiet_NaN();
  take(model, "alpha", alpha);
  if (!std::isnan(alpha)) rates.alpha = alpha;
  return rates;
}

std::vector<ancify::SubstitutionRates> as_class_rates(const Rcpp::List& model) {
  std::vector<ancify::SubstitutionRates> rates;
  if (!has(model, "classes")) return rates;
  const Rcpp::List classes = model["classes"];
  for (R_xlen_t i = 0; i < classes.size(); ++i) rates.push_back(as_rates(classes[i]));
  return rates;
}

ancify::MethodOptions as_method_options(const Rcpp::List& method) {
  ancify::MethodOptions options;
  take(method, "name", options.name);
  take(method, "n_inner", options.voting.n_inner);
  take(method, "n_outer", options.voting.n_outer);
  take(method, "min_inner", options.voting.min_inner);
  take(method, "min_outer", options.voting.min_outer);
  take(method, "high", options.thresholds.high);
  take(method, "low", options.thresholds.low);
  if (has(method, "model")) {
    options.rates = as_rates(method["model"]);
    options.class_rates = as_class_rates(method["model"]);
  }
  if (has(method, "tree")) {
    options.tree.emplace(as_tree(method["tree"], options.voting.species()));
  }
  if (has(method, "history")) {
    const Rcpp::List history = method["history"];
    options.history = as_history(history);
    take(history, "mutation_rate", options.mutation_rate);
  }
  take(method, "model_path", options.model_path);
  if (has(method, "variants")) {
    const Rcpp::List variants = method["variants"];
    take(variants, "paths", options.variants.paths);
    take(variants, "samples", options.variants.samples);
    take(variants, "chromosomes", options.variants.chromosomes);
  }
  return options;
}

// Counts the site patterns of sequences of equal length: inner outgroups, outer outgroups and,
// optionally, the focal species. Returns list(pattern =, count =) of the patterns that occur, in
// the order A, C, G, T, N. If `classed_by` outgroups are above 0, the last letter of a pattern is
// the class of the site by their neighbouring bases: A for class 0 to T for class 3.
// [[Rcpp::export]]
Rcpp::List count_patterns_in_memory_impl(const Rcpp::CharacterVector& sequences, int classed_by,
                                         const Rcpp::List& backend, const Rcpp::Function& watch) {
  const auto& chosen = as_backend(backend);
  const std::int64_t n = LENGTH(STRING_ELT(sequences, 0));
  const ancify::ChromosomeSequences all = {"sequences", n, [&] { return as_sources(sequences); }};
  std::vector<ancify::PatternCounts> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    counts = ancify::count_patterns({all}, chosen, control, classed_by);
  });
  return as_list(counts.front());
}

// Counts the site patterns of every chromosome from the files in the species' folders, which are in
// the order of count_patterns_in_memory_impl(). Returns a list of such results, named by
// chromosome.
// [[Rcpp::export]]
Rcpp::List count_patterns_in_files_impl(const std::vector<std::string>& folders, int classed_by,
                                        const Rcpp::NumericVector& lengths,
                                        const Rcpp::List& backend, const Rcpp::Function& watch) {
  const auto& chosen = as_backend(backend);
  const auto chromosomes = chromosomes_in(folders, lengths, watch);
  std::vector<ancify::PatternCounts> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    counts = ancify::count_patterns(chromosomes, chosen, control, classed_by);
  });
  Rcpp::List result(counts.begin(), counts.end(),
                    [](const ancify::PatternCounts& one) { return as_list(one); });
  result.names() = lengths.names();
  return result;
}

// Prepares log_likelihood_impl() for a tree (a list for as_tree(), whose lengths are ignored) and
// for patterns with their counts. A pattern has a character for each of `species` outgroups, inner
// ones first, and optionally one for the focal species. Returns an external pointer, which lives as
// long as the session and can't be saved.
// [[Rcpp::export]]
SEXP pattern_likelihood_impl(const Rcpp::List& tree, int species,
                             const Rcpp::CharacterVector& patterns,
                             const Rcpp::NumericVector& counts) {
  std::unique_ptr<ancify::PatternLikelihood> result;
  guarded([&] {
    ancify::PatternCounts all;
    all.leaves = patterns.size() > 0 ? LENGTH(STRING_ELT(patterns, 0)) : species;
    all.states = as_states(patterns, all.leaves);
    all.counts.assign(counts.begin(), counts.end());
    if (counts.size() != patterns.size()) {
      throw ancify::InputError("there are " + std::to_string(patterns.size()) + " patterns, but " +
                               std::to_string(counts.size()) + " counts");
    }
    result = std::make_unique<ancify::PatternLikelihood>(as_tree(tree, species), all);
  });
  return Rcpp::XPtr<ancify::PatternLikelihood>(result.release());
}

namespace {

const ancify::PatternLikelihood& as_pattern_likelihood(SEXP pointer) {
  const auto* likelihood = static_cast<ancify::PatternLikelihood*>(
      TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : nullptr);
  if (likelihood != nullptr) return *likelihood;
  throw ancify::InputError(
      "the likelihood of these patterns is from another R session: make it again");
}

}  // namespace

// The sum over patterns of count times log probability. lengths[i] is the length of the branch
// above the tree's i-th node; the root's is ignored. `model` is a list for as_rates(). -Inf if a
// pattern that occurs has probability 0.
// [[Rcpp::export]]
double log_likelihood_impl(SEXP likelihood, const std::vector<double>& lengths,
                           const Rcpp::List& model, int threads) {
  double result = 0;
  guarded([&] {
    ancify::JobControl control;
    result =
        as_pattern_likelihood(likelihood)
            .log_likelihood(lengths, ancify::SubstitutionModel(as_rates(model)), threads, control);
  });
  return result;
}

// The log-likelihood and its gradient at a point, list(lengths =, model =). Returns list(value =,
// gradient =). `around` is list(up =, down =, steps =), with an element per parameter. In `up` the
// parameter is a little larger, in `down` smaller by as much; `steps` has the differences. One pass
// over the patterns serves all points. All models must have the same number of rate classes.
// [[Rcpp::export]]
Rcpp::List log_likelihood_gradient_impl(SEXP likelihood, const Rcpp::List& point,
                                        const Rcpp::List& around, int threads) {
  const Rcpp::List up = around["up"];
  const Rcpp::List down = around["down"];
  const auto steps = Rcpp::as<std::vector<double>>(around["steps"]);
  double value = 0;
  std::vector<double> gradient;
  guarded([&] {
    const auto& patterns = as_pattern_likelihood(likelihood);
    ancify::JobControl control;
    const auto lengths_of = [](const Rcpp::List& at) {
      return Rcpp::as<std::vector<double>>(at["lengths"]);
    };
    const auto model_of = [](const Rcpp::List& at) {
      return ancify::SubstitutionModel(as_rates(at["model"]));
    };
    const auto slope = patterns.slope(lengths_of(point), model_of(point), threads, control);
    const auto linearised = [&](const Rcpp::List& at) {
      return patterns.linearised(slope, lengths_of(at), model_of(at));
    };
    value = slope.log_likelihood;
    if (up.size() != down.size() || up.size() != static_cast<R_xlen_t>(steps.size())) {
      throw ancify::InputError("up, down and steps differ in length");
    }
    for (R_xlen_t i = 0; i < up.size(); ++i) {
      gradient.push_back((linearised(up[i]) - linearised(down[i])) /
                         steps[static_cast<std::size_t>(i)]);
    }
  });
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("gradient") = gradient);
}
