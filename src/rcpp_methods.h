// Methods, trees and substitution models as R has them.
#pragma once

#include <Rcpp.h>

#include "core/ancestry/calling/methods.h"
#include "core/ancestry/coalescent/history.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"

// Elements that are absent or NULL have the core's defaults. All throw the core's errors: use
// them under guarded().

// list(parent =, length =, leaf =, name =), each with an element a node, in any order:
//   parent  the parent's index, from 1; 0 for the root
//   length  of the branch to the parent; NA where it is not known; the root's is not looked at
//   leaf    0 for an inner node, i for the i-th outgroup (inner ones first), -1 for the focal
//   species name    for messages; "" for none
ancify::Tree as_tree(const Rcpp::List& tree, int species);

// list(exchangeabilities = AC, AG, AT, CG, CT, GT, frequencies = A, C, G, T, alpha =, n_rates =,
// invariant =); alpha may be NA
ancify::SubstitutionRates as_rates(const Rcpp::List& model);

// list(focal_size =, focal_lineages =, mutation_rate =, time =, from =, into =, size =): joins of
// populations in the order of time, 0 the focal one and i the i-th outgroup's; nothing may be
// absent
ancify::History as_history(const Rcpp::List& history);

// `model` as as_rates() takes it; the rate is as_history()'s.
ancify::MutationModel as_mutation_model(const Rcpp::List& history, const Rcpp::List& model);

// list(name = "likelihood", n_inner =, n_outer =, min_inner =, min_outer =, tree =, model =,
// history =, model_path =, high =, low =); tree, model and history as above, and only where the
// method wants them; model_path only for "ml"
ancify::MethodOptions as_method_options(const Rcpp::List& method);
