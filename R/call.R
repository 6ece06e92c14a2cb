#' Call ancestral bases from aligned sequences
#'
#' Gives the ancestral base at each position and, by its case, how sure it is,
#' from the sequences of two tiers of outgroups in the focal genome's
#' coordinates.
#'
#' At each position the consensus of a tier is its most frequent base, ties going
#' to the first of A, C, G and T; with fewer votes than the tier's minimum it has
#' none. Where both tiers agree the call is that base in upper case; where only
#' one has a consensus, its base in lower case; where they differ, `n`; where
#' neither has one, `N`. Case does not matter in the sequences, and all but A, C,
#' G and T counts as missing.
#'
#' @param inner,outer Sequences of the near and of the far outgroups, one per
#'   species and all of the same length: a named character vector, or an
#'   `XStringSet` of the Bioconductor package Biostrings.
#' @param min_inner_freq,min_outer_freq Fewest votes that make a consensus of the
#'   inner and of the outer tier, at least 1 (the default).
#' @param threads Threads; `NULL` (the default) for `getOption("ancify.threads")`
#'   or else all cores.
#' @param backend `"auto"` (the default), `"cpu"` or `"gpu"`; a GPU that cannot
#'   be used is an error that says why. `"auto"` is the CPU in this version.
#' @return One string, as long as the sequences; a `BStringSet` of one where
#'   `inner` or `outer` is an `XStringSet` (a `DNAString` would lose the case).
#' @section Errors:
#' `ancify_input_error` for sequences that differ in length, that are missing, or
#' of a species named twice, and for minima below 1; `ancify_device_error` for a
#' GPU that cannot be used. A minimum above the number of species, with which the
#' tier can never agree on a base, is an `ancify_voting_warning`.
#' @seealso [project_axt()] for the sequences, [ancify_run()] for whole genomes
#' @export
#' @examples
#' inner <- c(chimp = "ACGTNacc", gorilla = "ACGANNcG")
#' outer <- c(macaque = "ATGTANNt")
#' call_ancestral(inner, outer, threads = 1)
call_ancestral <- function(inner, outer, min_inner_freq = 1, min_outer_freq = 1, threads = NULL,
                           backend = c("auto", "cpu", "gpu")) {
  check_whole_number(min_inner_freq, "min_inner_freq")
  check_whole_number(min_outer_freq, "min_outer_freq")
  sequences <- c(as_sequences(inner, "inner"), as_sequences(outer, "outer"))
  check_species_once(names(sequences))
  check_equal_lengths(sequences, length(inner))
  warn_about_minima(
    c(inner = min_inner_freq, outer = min_outer_freq),
    c(inner = length(inner), outer = length(outer))
  )
  backend <- choose_backend(backend, threads)
  calls <- with_watch("Calling", function(watch) {
    call_sequences_impl(sequences, length(inner), min_inner_freq, min_outer_freq, backend, watch)
  })
  if (inherits(inner, "XStringSet") || inherits(outer, "XStringSet")) {
    calls <- Biostrings::BStringSet(calls)
  }
  calls
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

warn_about_minima <- function(minima, species) {
  for (tier in names(minima)[minima > species[names(minima)]]) {
    warn_ancify(
      sprintf(
        "`min_%s_freq` is %d but the %s tier has %d species: it never has a consensus.",
        tier, as.integer(minima[[tier]]), tier, as.integer(species[[tier]])
      ),
      "voting"
    )
  }
}
