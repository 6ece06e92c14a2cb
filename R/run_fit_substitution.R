#' Fit a substitution model
#'
#' Estimates branch lengths and substitution rates by maximum likelihood, from counts of site
#' patterns: `fit_substitution_model(counts, tree, "HKY85")`. The time depends on the number of
#' distinct patterns, not on the length of the genome.
#'
#' The topology of the tree is fixed; its branch lengths start the search. The models are
#' reversible, so only the summed length of the two branches at the root can be fitted. It is
#' divided as in the given tree, or else in half. Nodes with a single branch are removed.
#'
#' A model by class, such as `substitution_model("GTR", by = "cpg")`, is fitted first to all sites,
#' then to the sites of each class. A class's rate is the sum of its branch lengths, relative to the
#' sum for all sites. The tree, `log_likelihood`, `df` and `estimates` are of the fit to all sites.
#'
#' If the tree includes the focal species, the counts must have its bases, because they determine
#' where its lineage joins. Otherwise its bases are not used.
#'
#' @param patterns The result of [count_patterns()], a data frame of `pattern` and `count` (with
#'   `species`), or a configuration. Patterns of a configuration are counted first; its tree and
#'   model are the defaults. A model by class needs the classes too, in a column `neighbours`.
#' @param tree A tree whose leaves are the species of the patterns: Newick text, the path of a
#'   Newick file, or a `phylo` of the package ape. `NULL` (the default) for the tree of a
#'   configuration.
#' @param model `"JC69"`, `"K80"`, `"HKY85"` (the default) or `"GTR"`, or a [substitution_model()]
#'   at which the search starts. Its `alpha` is fitted if given, and its `invariant` if above 0.
#' @param gamma `TRUE` fits the shape of gamma rates in `n_rates` classes; `FALSE` by default.
#' @param n_rates Number of gamma classes, 4 by default. A `model` with `alpha` has its own number.
#' @param invariant `TRUE` fits a share of invariant sites; `FALSE` by default.
#' @param base_freqs `"empirical"` (the default) takes the base frequencies of HKY85 and GTR from
#'   the counts; `"ml"` fits them.
#' @param species The species in the order of each pattern's bases; by default as in `patterns`.
#' @param focal The focal species' name; by default as in `patterns`.
#' @param threads Number of threads; `NULL` (the default) for `num_cpus` of a configuration, else
#'   for `getOption("ancify.threads")` or all cores.
#' @return A list of class `ancify_fit`, with methods for `print()`, `summary()`, `coef()`,
#'   `logLik()`, `AIC()` and `BIC()`:
#'   * `tree`, a `phylo` with the fitted lengths, and `model`, an `ancify_model`, both for
#'     [call_ancestral()];
#'   * `log_likelihood`, `df` (the number of fitted parameters; empirical frequencies count as 3)
#'     and `sites`;
#'   * `estimates`: a data frame of `parameter`, `estimate` and `std_error`, which is `NA` if the
#'     data do not determine it or the estimate is at a bound;
#'   * `converged` and `message` of the search;
#'   * `classes`, for a model by class: a data frame of `neighbours`, `sites`, `rate` and
#'     `log_likelihood`.
#' @section Errors:
#' * `ancify_input_error`: the tree, the model or the counts cannot be used, or the tree includes
#'   the focal species but the counts lack its bases.
#' * `ancify_input_error`: the model is by class, but the counts are not.
#' * With a configuration, also the errors of [count_patterns()].
#' * `ancify_fit_warning`: the search did not converge.
#' @references
#' Felsenstein (1981) Evolutionary trees from DNA sequences: a maximum likelihood
#' approach. Journal of Molecular Evolution 17:368.
#' @seealso [count_patterns()], [substitution_model()], [fit_history()], [call_ancestral()]
#' @export
#' @examples
#' config <- ancify_example()
#' ancify_run(config, "project", threads = 1, verbose = FALSE)
#' counts <- count_patterns(config, threads = 1)
#' fit <- fit_substitution_model(counts, "(((focal,near1),near2),far);", threads = 1)
#' fit
#' AIC(fit)
fit_substitution_model <- function(patterns, tree = NULL, model = NULL, gamma = FALSE,
                                   n_rates = 4, invariant = FALSE,
                                   base_freqs = c("empirical", "ml"), species = NULL,
                                   focal = NULL, threads = NULL) {
  check_args(gamma = flag(), invariant = flag(), n_rates = whole(most_rates),
             base_freqs = choice(c("empirical", "ml")))
  taken <- patterns_to_fit(patterns, tree, model, threads)
  model <- check_model(taken$model %||% "HKY85")
  if (gamma && is.null(model$alpha)) model[c("alpha", "n_rates")] <- list(0.5, as.integer(n_rates))
  if (invariant && model$invariant == 0) model$invariant <- 0.1
  refuse_if(is.null(taken$tree), "`tree` is missing: give a tree, for its topology.")
  tree <- input_faults(as_phylo(taken$tree))
  fit_in_classes(taken$patterns, tree, model, base_freqs, species, focal, taken$work)
}

# list(patterns =, tree =, model =, work =, estimate =) from the arguments of
# fit_substitution_model(). A configuration's patterns are counted; its tree and model are defaults.
patterns_to_fit <- function(patterns, tree, model, threads) {
  taken <- if (is.data.frame(patterns)) {
    work <- new_work(threads)
    list(patterns = patterns, tree = tree, model = model, work = work, estimate = FALSE)
  } else {
    counted_for_fit(patterns, tree, model, threads)
  }
  check_pattern_counts(taken$patterns)
  broken <- which(taken$patterns$count != round(taken$patterns$count))
  refuse_if(length(broken), "Row %d of `patterns` has the count %s: give whole numbers of sites.",
            broken[1], format(taken$patterns$count[broken[1]]))
  taken
}

counted_for_fit <- function(config, tree, model, threads) {
  must_be(is.character(config) || is.list(config), config, "patterns",
          "a result of count_patterns() or a configuration")
  config <- read_config(config, "count")
  estimate <- config$estimate && is.null(tree) && is.null(model)
  tree <- tree %||% config$tree
  refuse_if(is.null(tree), "`tree` is missing: give a tree, or set it in the configuration.")
  model <- model %||% config_model(config)
  config$num_cpus <- threads %||% config$num_cpus
  work <- config_work(config)
  focal_too <- config$focal_species %in% input_faults(as_phylo(tree))$tip.label
  by <- if (has_classes(model)) class_kinds else classes_by(config)
  list(
    patterns = count_in_run(config, focal_too, work, by), tree = tree, model = model, work = work,
    estimate = estimate
  )
}
