# Substitutions on the branches of a tree.

#' Count substitutions by branch
#'
#' Gives the expected number of substitutions on each branch of a tree, from counts of site
#' patterns: `branch_substitutions("ancify.yaml", threads = 2)`. So it tells on which lineage bases
#' changed, for example how many `C` became `T` in humans since the ancestor with chimpanzees.
#'
#' A substitution is a site whose base differs between the ends of a branch. The bases of ancestors
#' are unknown, so each site contributes its posterior probabilities, given all species with a base
#' there. Several changes at one site of a branch count as one or none. Where few species have a
#' base, the model decides; leave such patterns out to count observed changes alone.
#'
#' The models are reversible, so the data do not tell the two branches at the root apart. Their
#' division follows the division of their lengths. Add an outgroup for a branch of interest there.
#'
#' @inheritParams fit_substitution_model
#' @param patterns The result of [count_patterns()], a data frame of `pattern` and `count` (with
#'   `species`), or a configuration. Patterns of a configuration are counted first; its tree and
#'   model are the defaults. With `estimate: true` they are fitted, unless one is given here.
#' @param tree A tree with branch lengths, in expected changes per site: Newick text, a file with
#'   it, or a `phylo` such as the `tree` of a fit. `NULL` (the default) for the tree of a
#'   configuration.
#' @param model `"JC69"` (the default without a configuration), a [substitution_model()], or the
#'   `model` of a fit. A model by class needs the classes in a column `neighbours` of `patterns`.
#' @return A data frame with twelve rows for each branch:
#'   * `branch`: the species below; or the name of the inner node below, if no other has it; or all
#'     species below, of which the first three and a count are given if there are over four;
#'   * `from` and `to`, the bases at the upper and the lower end;
#'   * `substitutions`: the expected number of such sites;
#'   * `sites`: the expected number of sites with `from` at the upper end.
#'
#'   On the branch of a species, sites where it has no base are not counted.
#' @section Errors:
#' * `ancify_input_error`: the tree lacks a length, or the tree, the model or the counts cannot be
#'   used; or a pattern is impossible, as two bases have no branch length between them.
#' * With a configuration, also the errors of [count_patterns()].
#' @references
#' Felsenstein (1981) Evolutionary trees from DNA sequences: a maximum likelihood
#' approach. Journal of Molecular Evolution 17:368.
#' @seealso [fit_substitution_model()], [mutation_spectrum()] for changes within a species
#' @export
#' @examples
#' species <- c(human = "ACGTTGCAACGT", chimp = "ACGTTGTAACGT", macaque = "ACATTGTAACGA")
#' counts <- count_patterns(species[2], species[3], focal = species[1])
#' tree <- "((human:0.01,chimp:0.01):0.03,macaque:0.04);"
#' changes <- branch_substitutions(counts, tree, threads = 1)
#' changes[changes$substitutions > 0.1, ]
branch_substitutions <- function(patterns, tree = NULL, model = NULL, species = NULL, focal = NULL,
                                 threads = NULL) {
  check_given()
  taken <- patterns_to_fit(patterns, tree, model, threads)
  refuse_if(is.null(taken$tree), "`tree` is missing: give a tree with branch lengths.")
  tree <- input_faults(as_phylo(taken$tree))
  model <- check_model(taken$model %||% "JC69")
  if (taken$estimate) {
    fit <- fit_in_classes(taken$patterns, tree, model, "empirical", species, focal, taken$work)
    tree <- fit$tree
    model <- fit$model
  }
  refuse_if(!has_lengths(tree), lengths_missing)
  parts <- if (has_classes(model)) patterns_by_class(taken$patterns) else list(taken$patterns)
  models <- model$classes %||% list(model)
  counts <- Map(function(patterns, model) {
    changes_of(counts_for_tree(patterns, tree, species, focal), tree, model, taken$work)
  }, parts, models)
  branch_table(tree, Reduce(`+`, counts))
}

# The core's changes: a matrix with a row for each node, and columns AA, AC, ..., TT.
changes_of <- function(counts, tree, model, work) {
  likelihood <- pattern_likelihood_impl(
    core_tree(tree, counts$species, counts$focal), length(counts$species), counts$patterns,
    counts$counts
  )
  with_watch("Counting substitutions", function(watch) {
    branch_changes_impl(likelihood, likelihood_point(tree, model), work, watch)
  }, work$progress)
}

branch_table <- function(tree, counts) {
  pairs <- expand.grid(to = rate_labels$base, from = rate_labels$base, stringsAsFactors = FALSE)
  changed <- pairs$from != pairs$to
  rows <- do.call(rbind, lapply(tree$edge[, 2], function(node) {
    sites <- rowsum(counts[node, ], pairs$from)[pairs$from, ]
    data.frame(
      branch = label_of_node(tree, node), from = pairs$from, to = pairs$to,
      substitutions = counts[node, ], sites = unname(sites)
    )[changed, ]
  }))
  rownames(rows) <- NULL
  rows
}

# A node's name if no other has it, or the species below. Support values are no names.
label_of_node <- function(tree, node) {
  names <- c(tree$tip.label, tree$node.label)
  name <- names[node]
  if (!name %in% c(NA, "") && sum(names == name) == 1) name else clade_text(tree, node)
}
