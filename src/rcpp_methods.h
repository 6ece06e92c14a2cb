// Converts methods, trees and substitution models from R.
#pragma once

#include <Rcpp.h>

#include <vector>

#include "core/ancestry/calling/methods.h"
#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/coalescent/history.h"
#include "core/ancestry/patterns/pattern_counts.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"

// NULL elements get the core's defaults. All functions throw the core's errors: call them
// under guarded().

// Takes list(parent =, length =, leaf =, name =), each with an element per node, in any order:
//   parent: the parent's index, from 1; 0 for the root
//   length: of the branch to the parent; NA if unknown; the root's is ignored
//   leaf: 0 for an inner node, i for the i-th outgroup (inner tier first), -1 for the focal leaf
//   name: for messages; "" for none
//   called: the index of the node to call, from 1; 0 for the default
ancify::Tree as_tree(const Rcpp::List& tree, int species);

// Takes list(exchangeabilities = of AC, AG, AT, CG, CT, GT, frequencies = of A, C, G, T, alpha = a
// number or NA, n_rates =, invariant =, rate =).
ancify::SubstitutionRates as_rates(const Rcpp::List& model);

// The rates of each class of neighbours: the element `classes` of `model`, NULL or a list of lists
// for as_rates().
std::vector<ancify::SubstitutionRates> as_class_rates(const Rcpp::List& model);

// Takes list(focal_size =, focal_times =, focal_lineages =, mutation_rate =, time =, from =, into
// =, size =), where no element may be NULL. The last four are the joins of populations in the order
// of time. Population 0 is the focal population, i is the population of the i-th outgroup.
ancify::History as_history(const Rcpp::List& history);

double mutation_rate_of(const Rcpp::List& history);

// `model` is a list for as_rates(), `history` one for as_history(), which has the mutation rate.
ancify::MutationModel as_mutation_model(const Rcpp::List& history, const Rcpp::List& model);

// A model for each class of neighbours, or else one for all sites.
ancify::MutationModels as_mutation_models(const Rcpp::List& history, const Rcpp::List& model);

// Takes list(name = "likelihood", n_inner =, n_outer =, min_inner =, min_outer =, tree =, model =,
// history =, model_path =, high =, low =). `tree`, `model` and `history` are as above, and only for
// methods that use them; `model_path` is only for "ml".
ancify::MethodOptions as_method_options(const Rcpp::List& method);

// list(pattern =, count =)
Rcpp::List as_list(const ancify::PatternCounts& counts);
