#' Call ancestral bases from aligned sequences
#'
#' Gives the ancestral base at each position and, by its case, how sure it is,
#' from the sequences of outgroups in the focal genome's coordinates. Case does
#' not matter in the sequences, and all but A, C, G and T counts as missing.
#'
#' @section Methods:
#' `r methods_help()`
#'
#' Parsimony and likelihood call at the node where the focal lineage joins the
#' others, if `focal` says which leaf it is; its own base is left out. Without it
#' they call at the root of the tree.
#'
#' @param inner,outer Sequences of the near and of the far outgroups, one per
#'   species and all of the same length: a named character vector, or an
#'   `XStringSet` of the Bioconductor package Biostrings. For parsimony, likelihood
#'   and coalescent one of them may be empty (`character()` or `NULL`); for the first
#'   two the names are the tree's leaves.
#' @param method `"voting"` (the default), `"parsimony"`, `"likelihood"`, `"ml"` or
#'   `"coalescent"`. (A number here and in `tree` is taken for `min_inner_freq` and
#'   `min_outer_freq`, which once stood in these places.)
#' @param tree For parsimony and likelihood, which need it, while other methods refuse it:
#'   Newick text, the path of a file with it, or a `phylo` of the package ape, such as that
#'   of [fit_substitution_model()]. Branch lengths, which likelihood needs, are expected
#'   changes of a site. `NULL` by default.
#' @param focal The focal species' leaf in `tree`; `NULL` (the default) for none.
#' @param model For likelihood a [substitution_model()] (the default: `"JC69"`), for
#'   coalescent one in place of the history's, for ml the path of a LightGBM model in
#'   text form.
#' @param history For coalescent: a [coalescent_history()] with a split for each
#'   outgroup, by their names or else inner ones first; `NULL` by default.
#' @param posterior Whether to give the posteriors too, for likelihood, coalescent
#'   and ml; `FALSE` by default.
#' @param min_inner_freq,min_outer_freq For voting: fewest votes that make a
#'   consensus of the inner and of the outer tier, at least 1 (the default).
#' @param high,low Posterior, from 0 to 1, from which on a call is in upper case (0.8 by
#'   default) and in lower case (0.5); not for voting and parsimony.
#' @param threads Threads; `NULL` (the default) for `getOption("ancify.threads")`
#'   or else all cores.
#' @param backend `"auto"` (the default), `"cpu"` or `"gpu"`; a GPU that cannot
#'   be used is an error that says why, and all that can be used share the positions.
#'   `"auto"` is the CPU in this version: from how much work on a GPU gains has not
#'   been measured on a card yet.
#' @return One string, as long as the sequences; a `BStringSet` of one where
#'   `inner` or `outer` is an `XStringSet` (a `DNAString` would lose the case). With
#'   `posterior = TRUE` a list of these `calls` and `posterior`, a matrix with a row
#'   a position and the columns A, C, G and T, `NaN` where no outgroup has data and
#'   where the model says that the data cannot be.
#' @section Errors:
#' `ancify_input_error` for sequences that differ in length, that are missing, or
#' of a species named twice, for minima below 1, for thresholds in the wrong order,
#' and for trees, models and histories that can't be used, such as a tree that does
#' not parse (it says where), whose leaves are other species, or that lacks branch
#' lengths for likelihood; `ancify_format_error` for a LightGBM model that can't be
#' used; `ancify_device_error` for a GPU that cannot be used. A minimum above the
#' number of species, with which the tier can never agree on a base, is an
#' `ancify_voting_warning`.
#' @references
#' Felsenstein (1981) Evolutionary trees from DNA sequences: a maximum likelihood
#' approach. Journal of Molecular Evolution 17:368.
#'
#' Fitch (1971) Toward defining the course of evolution: minimum change for a
#' specific tree topology. Systematic Zoology 20:406.
#'
#' Hartigan (1973) Minimum mutation fits to a given tree. Biometrics 29:53.
#'
#' Rannala and Yang (2003) Bayes estimation of species divergence times and
#' ancestral population sizes. Genetics 164:1645 (coalescent).
#' @seealso [project_axt()] for the sequences, [ancify_run()] for whole genomes,
#'   [fit_substitution_model()] for trees and models, [polarise_sites()] for
#'   polymorphic sites
#' @export
#' @examples
#' inner <- c(chimp = "ACGTNacc", gorilla = "ACGANNcG")
#' outer <- c(macaque = "ATGTANNt")
#' call_ancestral(inner, outer, threads = 1)
#'
#' tree <- "(((human:0.01,chimp:0.01):0.005,gorilla:0.015):0.03,macaque:0.04);"
#' call_ancestral(inner, outer, "parsimony", tree, focal = "human", threads = 1)
#' call_ancestral(
#'   inner, outer, "likelihood", tree, focal = "human",
#'   model = substitution_model("K80", kappa = 4), posterior = TRUE, threads = 1
#' )
#' history <- coalescent_history(c(240000, 320000, 1100000), 50000, 10000)
#' call_ancestral(inner, outer, "coalescent", history = history, threads = 1)
call_ancestral <- function(inner, outer, method = "voting", tree = NULL, focal = NULL,
                           model = NULL, history = NULL, posterior = FALSE, min_inner_freq = 1,
                           min_outer_freq = 1, high = 0.8, low = 0.5, threads = NULL,
                           backend = c("auto", "cpu", "gpu")) {
  check_given()
  if (is.numeric(method)) {
    min_inner_freq <- method
    method <- "voting"
    if (is.numeric(tree)) {
      min_outer_freq <- tree
      tree <- NULL
    }
  }
  method <- check_choice(method, method_names(), "method")
  check_posterior_flag(posterior, method)
  check_whole_number(min_inner_freq, "min_inner_freq")
  check_whole_number(min_outer_freq, "min_outer_freq")
  check_thresholds_given(high, low)
  sequences <- tier_sequences(inner, outer, method)
  species <- lapply(sequences, names)
  row <- method_row(method)
  arguments <- list(tree = tree, focal = focal, model = model, history = history)
  settings <- c(
    list(min_inner_freq = min_inner_freq, min_outer_freq = min_outer_freq, high = high, low = low),
    method_arguments(method, arguments, unlist(species))
  )
  row$look(settings, species)
  backend <- choose_backend(backend, threads)
  caller <- make_caller(core_method(row, species, settings), FALSE, backend)
  result <- with_watch("Calling", function(watch) {
    call_in_memory_impl(unlist(unname(sequences)), caller, posterior, watch)
  })
  if (inherits(inner, "XStringSet") || inherits(outer, "XStringSet")) {
    result$calls <- Biostrings::BStringSet(result$calls)
  }
  if (posterior) result[c("calls", "posterior")] else result$calls
}

# list(inner =, outer =), named by the species.
tier_sequences <- function(inner, outer, method) {
  may_be_empty <- !method_row(method)$both_tiers
  tiers <- list(
    inner = as_tier(inner, "inner", may_be_empty),
    outer = as_tier(outer, "outer", may_be_empty)
  )
  sequences <- c(tiers$inner, tiers$outer)
  if (length(sequences) == 0) {
    abort_ancify("`inner` and `outer` are both empty: there is nothing to call from.", "input")
  }
  check_species_once(names(sequences))
  check_equal_lengths(sequences, length(tiers$inner))
  lapply(tiers, function(tier) {
    stats::setNames(tier, names(tier) %||% rep("", length(tier)))
  })
}

as_tier <- function(x, name, may_be_empty) {
  none <- length(x) == 0 && (is.null(x) || is.character(x) || inherits(x, "XStringSet"))
  if (may_be_empty && none) character() else as_sequences(x, name)
}

as_sequences <- function(x, name) {
  if (inherits(x, "XStringSet")) {
    x <- as.character(x)
  }
  if (!is.character(x) || length(x) == 0 || anyNA(x)) {
    abort_ancify(
      sprintf(
        "`%s` must be a character vector or an XStringSet with a sequence per species, not %s.",
        name, if (is.character(x) || is.null(x)) show_value(x) else paste("a", class(x)[1])
      ),
      "input"
    )
  }
  x
}

# A species that stands there twice would confirm itself.
check_species_once <- function(species) {
  twice <- unique(species[duplicated(species) & !species %in% c("", NA)])
  if (length(twice)) {
    abort_ancify(
      sprintf("%s stands in `inner` and `outer` more than once: keep one.",
              enumerate(quoted(twice))),
      "input"
    )
  }
}

check_equal_lengths <- function(sequences, n_inner) {
  lengths <- nchar(sequences, type = "bytes")
  other <- which(lengths != lengths[1])[1]
  if (!is.na(other)) {
    label <- function(i) {
      tier <- if (i > n_inner) sprintf("outer[%d]", i - n_inner) else sprintf("inner[%d]", i)
      species <- names(sequences)[i]
      if (is.null(species) || !nzchar(species)) tier else sprintf("%s (%s)", tier, quoted(species))
    }
    abort_ancify(
      sprintf(
        "The sequences must have the same length: %s has %s bases, %s has %s.",
        label(1), format_count(lengths[[1]]), label(other), format_count(lengths[[other]])
      ),
      "input"
    )
  }
}

# What a call can be, in the core's order.
confidences <- c("high", "low", "unresolved", "missing")
