// Connects trees, substitution models, calling methods and their fits with the core.
#include "rcpp_methods.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/methods.h"
#include "core/ancestry/patterns/pattern_counts.h"
#include "core/ancestry/phylogeny/pattern_likelihood.h"
#include "core/exec/errors.h"
#include "core/genome/sequence_store.h"
#include "rcpp_ancestry.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

namespace {

struct TreeColumns {
  std::vector<int> parent;
  Rcpp::NumericVector length;
  std::vector<int> leaf;
  std::vector<std::string> name;
  int called;
};

struct ModelFields {
  ancify::SubstitutionRates rates;
  std::vector<ancify::SubstitutionRates> classes;
};

// NA means equal rates at all sites.
std::optional<double> as_alpha(const Rcpp::NumericVector& alpha) {
  if (alpha.size() != 1) throw FieldFault("is not a single number");
  return std::isnan(alpha[0]) ? std::nullopt : std::optional<double>(alpha[0]);
}

std::vector<ancify::SubstitutionRates> as_rates_of_classes(const Rcpp::List& classes) {
  std::vector<ancify::SubstitutionRates> rates;
  for (R_xlen_t i = 0; i < classes.size(); ++i) rates.push_back(as_rates(classes[i]));
  return rates;
}

// `tree`, `model` and `history` are only for methods that use them.
struct MethodFields {
  ancify::MethodOptions options;
  std::optional<Rcpp::List> model;
  std::optional<Rcpp::List> tree;
  std::optional<Rcpp::List> history;
};

ancify::Ties as_ties(const std::string& name) {
  using ancify::Ties;
  return choice<Ties>(name, {{"open", Ties::kOpen}, {"alphabet", Ties::kAlphabet}});
}

struct PointFields {
  std::vector<double> lengths;
  ModelFields model;
};

struct AroundFields {
  std::vector<PointFields> up;
  std::vector<PointFields> down;
  std::vector<double> steps;
};

}  // namespace

template <>
struct Fields<TreeColumns> {
  using All = TreeColumns;
  static constexpr auto table =
      fields("Tree", field("parent", &All::parent), field("length", &All::length),
             field("leaf", &All::leaf), field("name", &All::name), field("called", &All::called));
};

template <>
struct Fields<ModelFields> {
  using All = ModelFields;
  using Rates = ancify::SubstitutionRates;
  static constexpr auto table =
      fields("SubstitutionModel",
             field_or_default("exchangeabilities", within(&All::rates, &Rates::exchangeabilities)),
             field_or_default("frequencies", within(&All::rates, &Rates::frequencies)),
             field_or_default("alpha", within(&All::rates, &Rates::alpha), as_alpha),
             field_or_default("n_rates", within(&All::rates, &Rates::n_rates)),
             field_or_default("invariant", within(&All::rates, &Rates::invariant)),
             field_or_default("rate", within(&All::rates, &Rates::rate)),
             field_or_default("classes", &All::classes, as_rates_of_classes));
};

template <>
struct Fields<ancify::KnownSitesFiles> {
  using All = ancify::KnownSitesFiles;
  static constexpr auto table =
      fields("KnownSites", field("paths", &All::paths), field_or_default("samples", &All::samples),
             field("chromosomes", &All::chromosomes));
};

template <>
struct Fields<MethodFields> {
  using All = MethodFields;
  using Options = ancify::MethodOptions;
  using Voting = ancify::Voting;
  static constexpr auto table = fields(
      "MethodOptions", field("name", within(&All::options, &Options::name)),
      field("n_inner", within(within(&All::options, &Options::voting), &Voting::n_inner)),
      field("n_outer", within(within(&All::options, &Options::voting), &Voting::n_outer)),
      field_or_default("min_inner",
                       within(within(&All::options, &Options::voting), &Voting::min_inner)),
      field_or_default("min_outer",
                       within(within(&All::options, &Options::voting), &Voting::min_outer)),
      field_or_default("ties", within(within(&All::options, &Options::voting), &Voting::ties),
                       as_ties),
      field_or_default(
          "high", within(within(&All::options, &Options::thresholds), &ancify::Thresholds::high)),
      field_or_default(
          "low", within(within(&All::options, &Options::thresholds), &ancify::Thresholds::low)),
      field("model", &All::model), field("tree", &All::tree), field("history", &All::history),
      field_or_default("model_path", within(&All::options, &Options::model_path)),
      field_or_default("variants", within(&All::options, &Options::variants)));
};

template <>
struct Fields<PointFields> {
  using All = PointFields;
  static constexpr auto table =
      fields("LikelihoodPoint", field("lengths", &All::lengths), field("model", &All::model));
};

template <>
struct Fields<AroundFields> {
  using All = AroundFields;
  static constexpr auto table = fields("LikelihoodPoints", field("up", &All::up),
                                       field("down", &All::down), field("steps", &All::steps));
};

namespace {

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

}  // namespace

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

ancify::Tree as_tree(const Rcpp::List& tree, int species) {
  const auto [parent, length, leaf, name, called] = from_list<TreeColumns>(tree);
  if (length.size() != static_cast<R_xlen_t>(parent.size()) || leaf.size() != parent.size() ||
      name.size() != parent.size()) {
    throw ancify::InputError("the tree's arrays differ in length");
  }
  std::vector<ancify::TreeNode> nodes;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    const int stands_for = leaf[i] < 0    ? ancify::kFocalLeaf
                           : leaf[i] == 0 ? ancify::kNoLeaf
                                          : leaf[i] - 1;
    nodes.push_back({parent[i] - 1, length[static_cast<R_xlen_t>(i)], stands_for, name[i]});
  }
  return {nodes, species, called - 1};
}

ancify::SubstitutionRates as_rates(const Rcpp::List& model) {
  return from_list<ModelFields>(model).rates;
}

std::vector<ancify::SubstitutionRates> as_class_rates(const Rcpp::List& model) {
  return from_list<ModelFields>(model).classes;
}

ancify::MethodOptions as_method_options(const Rcpp::List& method) {
  auto [options, model, tree, history] = from_list<MethodFields>(method);
  options.thresholds.ties = options.voting.ties;
  if (model) {
    options.rates = as_rates(*model);
    options.class_rates = as_class_rates(*model);
  }
  if (tree) options.tree.emplace(as_tree(*tree, options.voting.species()));
  if (history) {
    options.history = as_history(*history);
    options.mutation_rate = mutation_rate_of(*history);
  }
  return options;
}

// Counts the site patterns of sequences of equal length: inner outgroups, outer outgroups and,
// optionally, the focal species. Returns list(pattern =, count =) of the observed patterns, in the
// order A, C, G, T, N. If `classed_by` exceeds 0, it is a number of outgroups, whose neighbouring
// bases determine the class of a site. The last letter of a pattern is then this class: A for class
// 0 to T for class 3.
// [[Rcpp::export]]
Rcpp::List count_patterns_in_memory_impl(const Rcpp::CharacterVector& sequences, int classed_by,
                                         const Rcpp::List& work, const Rcpp::Function& watch) {
  const ancify::Backend chosen = as_work(work).backend;
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
                                        const Rcpp::NumericVector& lengths, const Rcpp::List& work,
                                        const Rcpp::Function& watch) {
  const ancify::Backend chosen = as_work(work).backend;
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
// long as the session and cannot be saved.
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
// above the tree's i-th node; the root's is ignored. `model` is a list for as_rates(). -Inf if an
// observed pattern has probability 0.
// [[Rcpp::export]]
double log_likelihood_impl(SEXP likelihood, const std::vector<double>& lengths,
                           const Rcpp::List& model, const Rcpp::List& work) {
  const int threads = threads_of(work);
  double result = 0;
  guarded([&] {
    ancify::JobControl control;
    result =
        as_pattern_likelihood(likelihood)
            .log_likelihood(lengths, ancify::SubstitutionModel(as_rates(model)), threads, control);
  });
  return result;
}

// The expected counts of sites by the bases at both ends of each branch, at a point, list(lengths
// =, model =): a matrix with a row for each node of the tree, and a column for each pair of bases,
// AA, AC, ..., TT. The root's row is 0.
// [[Rcpp::export]]
Rcpp::NumericMatrix branch_changes_impl(SEXP likelihood, const Rcpp::List& point,
                                        const Rcpp::List& work, const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const auto at = from_list<PointFields>(point);
  std::vector<ancify::Transitions> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    counts = as_pattern_likelihood(likelihood)
                 .changes(at.lengths, ancify::SubstitutionModel(at.model.rates), threads, control);
  });
  constexpr int kPairs = ancify::kBases * ancify::kBases;
  Rcpp::NumericMatrix result(static_cast<int>(counts.size()), kPairs);
  for (int i = 0; i < result.nrow(); ++i) {
    for (int pair = 0; pair < kPairs; ++pair) {
      const auto from = static_cast<std::size_t>(pair / ancify::kBases);
      const auto to = static_cast<std::size_t>(pair % ancify::kBases);
      result(i, pair) = counts[static_cast<std::size_t>(i)][from][to];
    }
  }
  return result;
}

// The log-likelihood and its gradient at a point, list(lengths =, model =). Returns list(value =,
// gradient =). `around` is list(up =, down =, steps =), with an element per parameter. The
// parameter is slightly larger in `up`, and smaller by the same amount in `down`; `steps` has the
// differences. One pass over the patterns serves all points. All models must have equally many rate
// classes.
// [[Rcpp::export]]
Rcpp::List log_likelihood_gradient_impl(SEXP likelihood, const Rcpp::List& point,
                                        const Rcpp::List& around, const Rcpp::List& work) {
  const int threads = threads_of(work);
  const auto [up, down, steps] = from_list<AroundFields>(around);
  const auto at_point = from_list<PointFields>(point);
  double value = 0;
  std::vector<double> gradient;
  guarded([&] {
    const auto& patterns = as_pattern_likelihood(likelihood);
    ancify::JobControl control;
    const auto model_of = [](const PointFields& at) {
      return ancify::SubstitutionModel(at.model.rates);
    };
    const auto slope = patterns.slope(at_point.lengths, model_of(at_point), threads, control);
    const auto linearised = [&](const PointFields& at) {
      return patterns.linearised(slope, at.lengths, model_of(at));
    };
    value = slope.log_likelihood;
    if (up.size() != down.size() || up.size() != steps.size()) {
      throw ancify::InputError("up, down and steps differ in length");
    }
    for (std::size_t i = 0; i < up.size(); ++i) {
      gradient.push_back((linearised(up[i]) - linearised(down[i])) / steps[i]);
    }
  });
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("gradient") = gradient);
}
