#' Call ancestral bases from aligned sequences
#'
#' Calls the ancestral base at each position of sequences that are projected onto the focal genome,
#' as [project_axt()] gives them. The case of a call shows its confidence:
#' `call_ancestral(c(chimp = "ACG"), c(macaque = "ATg"))` gives `"AnG"`.
#'
#' The case of the sequences has no influence. Letters other than A, C, G and T are missing data.
#'
#' @section Methods:
#' `r methods_help()`
#'
#' Parsimony and likelihood call at `node`. By default, this is where the lineage of `focal` joins
#' the tree, or the root without `focal`. The focal species' own base is never used.
#'
#' @section Known variation:
#' Polymorphic sites differ from sites drawn at random: their gene trees are deeper, and the
#' ancestral base is one of the alleles. Posteriors that ignore this are far too confident there.
#' Coalescent distinguishes three states:
#'
#' | Known | Given by |
#' | --- | --- |
#' | nothing | positions absent from `variants` |
#' | the alleles | a row of `variants`: `position`, and `alleles` such as `"A/G"` |
#' | alleles and counts | a row with `counts` of the second allele and `n` haplotypes as well |
#'
#' [polarise_sites()] computes the posteriors of such rows, with `NA` for unknown `counts`. Without
#' `n` the site varies among `focal_lineages` haplotypes of the history. If both alleles tie, the
#' call is `n`. If no outgroup has a base, the call stays `N`.
#'
#' @param inner,outer Sequences of the inner and the outer outgroups, one for each species, all of
#'   one length: a named character vector, or an `XStringSet` of the package Biostrings. For one
#'   species an `XString`, such as a `DNAString`, also works. For parsimony, likelihood and
#'   coalescent one tier may be empty (`character()` or `NULL`). For parsimony and likelihood the
#'   names must be leaves of the tree.
#' @param method `"voting"` (the default), `"parsimony"`, `"likelihood"`, `"ml"` or
#'   `"coalescent"`. Numbers in `method` and `tree` are read as `min_inner_freq` and
#'   `min_outer_freq`, as in earlier versions.
#' @param tree The tree for parsimony and likelihood; other methods refuse it. Newick text, the path
#'   of a Newick file, or a `phylo` of the package ape, such as the tree of
#'   [fit_substitution_model()]. Likelihood needs branch lengths, in expected changes per site.
#'   `NULL` by default.
#' @param focal The focal species' leaf in `tree`; `NULL` (the default) for none.
#' @param node The ancestor to call, for parsimony and likelihood: the name of an inner node of
#'   `tree`, or two or more of its leaves, for their most recent common ancestor. `NULL` (the
#'   default) for the node where the lineage of `focal` joins, or the root.
#' @param model For likelihood a [substitution_model()] (`"JC69"` by default). For coalescent a
#'   model that replaces the history's. Both models may differ between classes of sites, see
#'   [cpg_class()]. For ml the path of a LightGBM model as text.
#' @param history For coalescent: a [coalescent_history()] with a split for each outgroup, by
#'   name, or without names in the order inner, outer. `NULL` by default.
#' @param variants For coalescent: the positions known to vary in the focal species, as a data
#'   frame; `NULL` (the default) if nothing is known. See below.
#' @param posterior `TRUE` also returns the posteriors of likelihood, coalescent and ml; `FALSE`
#'   (the default) returns the calls alone.
#' @param min_inner_freq,min_outer_freq For voting: the fewest votes for a consensus of the inner
#'   and of the outer tier; 1 by default.
#' @param ties The call if a method leaves several bases: `"open"` (the default) gives `n`.
#'   `"alphabet"` gives the first of A, C, G and T, as the Python tool does. Calls then may differ
#'   between the strands.
#' @param high,low Smallest posteriors of a call in upper case (0.8 by default) and in lower case
#'   (0.5 by default). Voting and parsimony do not use them.
#' @param threads Number of threads; `NULL` (the default) for `getOption("ancify.threads")`, or
#'   all cores.
#' @param backend `"auto"` (the default), `"cpu"` or `"gpu"`. `"auto"` uses the CPU in this version.
#'   `"gpu"` uses all usable GPUs; without one, an error gives the reason. Models by class always
#'   run on the CPU.
#' @return The calls: one string, as long as the sequences. It is a `BStringSet` if `inner` or
#'   `outer` comes from Biostrings (a `DNAString` would lose the case). With `posterior = TRUE` a
#'   list:
#'   * `calls`: the string of calls;
#'   * `posterior`: a matrix with a row for each position and the columns A, C, G and T. A row
#'     is `NaN` if no outgroup has data, or if the data are impossible under the model.
#' @section Errors:
#' * `ancify_input_error`: sequences are missing, differ in length, or a species occurs twice.
#' * `ancify_input_error`: a minimum is below 1, `low` is above `high`, or a tree, model or
#'   history cannot be used. For Newick text the message gives the position.
#' * `ancify_input_error`: `variants` has unknown columns, a position twice or outside the
#'   sequences, or values that [polarise_sites()] refuses.
#' * `ancify_file_error`, `ancify_format_error`: the LightGBM model cannot be read or used.
#' * `ancify_device_error`: a GPU cannot be used.
#' * `ancify_voting_warning`: a minimum is above the number of species, so the tier never has a
#'   consensus.
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
#'
#' # The ancestor of all species
#' call_ancestral(
#'   inner, outer, "likelihood", tree, focal = "human", node = c("human", "macaque"), threads = 1
#' )
#'
#' history <- coalescent_history(c(240000, 320000, 1100000), 50000, 10000)
#' call_ancestral(inner, outer, "coalescent", history = history, threads = 1)
#'
#' # Position 3 varies, and so does position 4, with known counts
#' variants <- data.frame(
#'   position = 3:4, alleles = c("G/T", "T/C"), counts = c(NA, 3), n = c(NA, 20)
#' )
#' call_ancestral(
#'   inner, outer, "coalescent", history = history, variants = variants, threads = 1
#' )
call_ancestral <- function(inner, outer, method = "voting", tree = NULL, focal = NULL,
                           model = NULL, history = NULL, posterior = FALSE, min_inner_freq = 1,
                           min_outer_freq = 1, high = 0.8, low = 0.5, threads = NULL,
                           backend = c("auto", "cpu", "gpu"), variants = NULL,
                           ties = c("open", "alphabet"), node = NULL) {
  check_given()
  if (is.numeric(method)) {
    min_inner_freq <- method
    method <- "voting"
    if (is.numeric(tree)) {
      min_outer_freq <- tree
      tree <- NULL
    }
  }
  check_args(method = choice(method_names()), posterior = flag())
  refuse_if(posterior && !has_posterior(method_row(method)),
            "`method` %s has no posterior: set `posterior = FALSE`, or choose one of %s.",
            quoted(method), enumerate(names_with_posterior()))
  check_args(ties = choice(tie_rules), min_inner_freq = whole(), min_outer_freq = whole(),
             high = number(0, 1), low = number(0, 1))
  refuse_if(low > high, "`low` is %s, above `high` of %s: exchange them.", low, high)
  sequences <- tier_sequences(inner, outer, method)
  species <- lapply(sequences, names)
  row <- method_row(method)
  arguments <- list(
    tree = tree, focal = focal, node = node, model = model, history = history,
    variants = variants
  )
  settings <- c(
    list(
      min_inner_freq = min_inner_freq, min_outer_freq = min_outer_freq, ties = ties, high = high,
      low = low
    ),
    method_arguments(method, arguments, unlist(species))
  )
  row$look(settings, species)
  work <- new_work(threads, backend)
  caller <- make_caller(core_method(row, species, settings), FALSE, work)
  result <- with_watch("Calling", function(watch) {
    call_in_memory_impl(unlist(unname(sequences)), caller, posterior, watch)
  })
  if (!is.null(variants)) {
    result <- with_sites_that_vary(result, unlist(unname(sequences)), variants, settings)
  }
  if (is_of_biostrings(inner) || is_of_biostrings(outer)) {
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
  check_sequences(sequences, length(tiers$inner))
  lapply(tiers, function(tier) {
    stats::setNames(tier, names(tier) %||% rep("", length(tier)))
  })
}

as_tier <- function(x, name, may_be_empty) {
  none <- length(x) == 0 && (is.null(x) || is.character(x) || is_of_biostrings(x))
  if (may_be_empty && none) character() else as_sequences(x, name)
}

is_of_biostrings <- function(x) inherits(x, "XStringSet") || inherits(x, "XString")

as_sequences <- function(x, name) {
  if (is_of_biostrings(x)) {
    x <- as.character(x)
  }
  refuse_if(!is.character(x) || length(x) == 0 || anyNA(x),
            "`%s` must be a character vector or an XStringSet, one sequence per species, not %s.",
            name, if (is.character(x) || is.null(x)) show_value(x) else paste("a", class(x)[1]))
  x
}

# Checks the sequences of both tiers together, because a species that occurs twice would confirm
# itself. `inner`: the name of the first tier's argument.
check_sequences <- function(sequences, n_inner, inner = "inner") {
  refuse_if(length(sequences) == 0, "`%s` and `outer` are both empty: give at least one sequence.",
            inner)
  species <- names(sequences)
  twice <- unique(species[duplicated(species) & !species %in% c("", NA)])
  refuse_if(length(twice), "`inner` and `outer` have %s more than once: keep one.",
            enumerate(quoted(twice)))
  check_equal_lengths(sequences, n_inner)
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
    refuse_input("The sequences must have the same length: %s has %s bases, %s has %s.", label(1),
                 format_count(lengths[[1]]), label(other), format_count(lengths[[other]]))
  }
}

# The kinds of calls, in the core's order.
confidences <- c("high", "low", "unresolved", "missing")
