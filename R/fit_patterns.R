#' Count site patterns
#'
#' Counts each site pattern, the bases of all species at one position. Substitution models and
#' histories are fitted to these counts: `count_patterns("ancify.yaml")`.
#'
#' With a configuration, the projected sequences in `<work_dir>/projected` are counted, one
#' chromosome after the other. [ancify_run()] with the phase `"project"` writes them.
#'
#' The focal base is the last of a pattern. Fits need it to know where the focal lineage joins the
#' others. It is read from `<work_dir>/projected/<focal_species>`. Missing files there are first
#' made from `focal_fasta`, or else from the focal rows of the alignments.
#'
#' @param x A configuration (a path, a list or an [ancify_config()]), or the sequences of the inner
#'   outgroups as in [call_ancestral()].
#' @param outer Sequences of the outer outgroups, if `x` is sequences; `NULL` (the default) for
#'   none.
#' @param focal With a configuration: `TRUE` (the default) counts the focal base too, and is an
#'   error without one; `FALSE` does not. With sequences: the focal sequence, named by the species;
#'   `TRUE` or `FALSE` for none.
#' @param threads Number of threads; `NULL` (the default) for `num_cpus` of a configuration, else
#'   for `getOption("ancify.threads")` or all cores.
#' @param backend `"auto"`, `"cpu"` or `"gpu"`; `NULL` (the default) for `backend` of a
#'   configuration, else `"auto"`. The CPU counts in any case.
#' @param progress `TRUE` shows a progress bar after two seconds; by default only in interactive
#'   sessions.
#' @param by `"cpg"` counts the patterns of each class of neighbours apart, for a
#'   [substitution_model()] by class. `NULL` (the default) for what `model_classes` of a
#'   configuration needs, else all patterns together.
#' @return A data frame of class `ancify_patterns` with a row for each pattern of a chromosome. The
#'   attribute `species` has the species in the order of the bases, `focal` the focal one or `NULL`.
#'
#'   | Column | Meaning |
#'   | --- | --- |
#'   | `chromosome` | its name, or `"sequences"` if sequences were given |
#'   | `pattern` | a base or `N` for each species |
#'   | `neighbours` | only with `by`: the class of the position, see [cpg_class()] |
#'   | `count` | the number of positions |
#' @section Errors:
#' * `ancify_config_error`, `ancify_file_error`, `ancify_format_error`: as in [ancify_run()].
#' * `ancify_input_error`: sequences differ in length, or are of one species twice; or `by` is given
#'   without outgroups.
#' * `ancify_device_error`: a GPU cannot be used.
#' @seealso [fit_substitution_model()], [fit_history()]
#' @export
#' @examples
#' inner <- c(chimp = "ACGTNACC", gorilla = "ACGANNCG")
#' count_patterns(inner, c(macaque = "ATGTANNT"), c(human = "ACGTAACC"), threads = 1)
#'
#' config <- ancify_example()
#' ancify_run(config, "project", threads = 1, verbose = FALSE)
#' head(count_patterns(config, threads = 1))
count_patterns <- function(x, outer = NULL, focal = TRUE, threads = NULL, backend = NULL,
                           progress = interactive(), by = NULL) {
  check_given()
  check_by(by)
  if (!is_config(x, outer)) {
    return(count_in_memory(x, outer, focal, threads, backend, progress, by))
  }
  check_flag(focal, "focal")
  config <- read_config(x, "count")
  backend <- choose_backend(
    backend %||% config$backend, threads %||% config$num_cpus, config$gpu_devices
  )
  if (focal && !has_focal(config)) {
    work_in(new_context(config, backend, NULL, progress), "project", ensure_focal)
  }
  count_projected(config, focal, backend, progress, by %||% classes_by(config))
}

# A single text without a name is a configuration's path, unless `outer` is given.
is_config <- function(x, outer) {
  is.list(x) || (is.character(x) && length(x) == 1 && is.null(names(x)) && is.null(outer))
}

count_in_memory <- function(inner, outer, focal, threads, backend, progress, by) {
  sequences <- c(as_tier(inner, "x", TRUE), as_tier(outer, "outer", TRUE))
  with_focal <- !isTRUE(focal) && !isFALSE(focal)
  if (with_focal) sequences <- c(sequences, one_focal(focal))
  if (length(sequences) == 0) {
    abort_ancify("`x` and `outer` are both empty: give at least one sequence.", "input")
  }
  species <- names(sequences) %||% rep("", length(sequences))
  check_species_once(species)
  check_equal_lengths(sequences, length(inner))
  backend <- choose_backend(backend %||% "auto", threads)
  outgroups <- length(species) - with_focal
  if (!is.null(by) && outgroups == 0) {
    abort_ancify("`by` needs an outgroup: classes are by the outgroups' bases.", "input")
  }
  counts <- with_watch("Counting patterns", function(watch) {
    classed_by <- if (is.null(by)) 0L else outgroups
    count_patterns_in_memory_impl(sequences, classed_by, backend, watch)
  }, progress)
  new_patterns(list(sequences = counts), species, if (with_focal) species[length(species)], by)
}

# One sequence, named.
one_focal <- function(focal) {
  focal <- as_sequences(focal, "focal")
  if (length(focal) != 1 || !isTRUE(nzchar(names(focal)))) {
    abort_ancify(
      sprintf(
        "`focal` must be one sequence with the focal species' name, not %s%s.",
        count_of(length(focal), "sequence"), if (is.null(names(focal))) " without a name" else ""
      ),
      "input"
    )
  }
  focal
}

count_projected <- function(config, focal, backend, progress, by = classes_by(config)) {
  species <- c(config$outgroups$name, if (focal) config$focal_species)
  folders <- projected_folder(config, species)
  check_projected(species, config)
  counts <- with_watch("Counting patterns", function(watch) {
    classed_by <- if (is.null(by)) 0L else nrow(config$outgroups)
    count_patterns_in_files_impl(folders, classed_by, config$lengths, backend, watch)
  }, progress, inputs = expected_inputs(config))
  new_patterns(counts, species, if (focal) config$focal_species, by)
}

# `by`: whether the last letter of a pattern is the class of its sites.
new_patterns <- function(counts, species, focal, by) {
  patterns <- data.frame(
    chromosome = rep(names(counts), vapply(counts, function(one) length(one$pattern), 0L)),
    pattern = as.character(unlist(lapply(counts, `[[`, "pattern")))
  )
  if (!is.null(by)) {
    width <- length(species)
    letter <- substr(patterns$pattern, width + 1, width + 1)
    patterns$pattern <- substr(patterns$pattern, 1, width)
    patterns$neighbours <- neighbour_classes[1 + base_codes(letter)]
  }
  patterns$count <- as.numeric(unlist(lapply(counts, `[[`, "count")))
  structure(
    patterns, class = c("ancify_patterns", "data.frame"), species = species, focal = focal
  )
}

#' @export
print.ancify_patterns <- function(x, ...) {
  species <- attr(x, "species")
  if (is.null(species) || !all(c("chromosome", "pattern", "count") %in% names(x))) {
    return(NextMethod())
  }
  patterns <- count_of(length(unique(x$pattern)), "pattern")
  write_object("ancify_patterns", c(
    paste(format_count(sum(x$count)), "sites"),
    paste(patterns, "of", enumerate(ifelse(species == "", "?", species)))
  ))
  most <- utils::head(order(-x$count), 10)
  print.data.frame(x[most, ], row.names = FALSE)
  if (nrow(x) > length(most)) cat("... and", format_count(nrow(x) - length(most)), "more rows\n")
  invisible(x)
}

# Over all chromosomes.
total_counts <- function(counts) {
  totals <- rowsum(counts$count, counts$pattern)
  data.frame(pattern = rownames(totals), count = totals[, 1], row.names = NULL)
}

check_pattern_counts <- function(patterns) {
  fail <- function(...) abort_ancify(sprintf(...), "input")
  if (!is.data.frame(patterns) || !is.character(patterns$pattern) || !is.numeric(patterns$count)) {
    fail("`patterns` must be a data frame of `pattern`, such as \"ACNA\", and `count`.")
  }
  counts <- patterns$count
  wrong <- which(is.na(patterns$pattern) | !is.finite(counts) | counts < 0)
  if (length(wrong)) {
    fail(
      "Row %d of `patterns` has the pattern %s and the count %s: give a text and a number.",
      wrong[1], show_value(patterns$pattern[wrong[1]]), format(counts[wrong[1]])
    )
  }
  if (sum(counts) == 0) fail("`patterns` has no sites: it has no rows, or all counts are 0.")
  if (sum(counts) > 2^53) fail("`patterns` has %s sites: give at most 2^53.", format(sum(counts)))
}

# list(patterns =, counts =, species =, focal =) of the tree's species, the focal one last.
counts_for_tree <- function(patterns, tree, species, focal) {
  species <- species %||% attr(patterns, "species")
  given_focal <- focal
  focal <- given_focal %||% attr(patterns, "focal")
  if (is.null(species)) {
    abort_ancify(
      "`species` is missing: give the species' names in the order of each pattern's bases.",
      "input"
    )
  }
  check_pattern_widths(patterns$pattern, species)
  if (!is.null(given_focal)) check_focal(given_focal)
  extra <- setdiff(tree$tip.label, species)
  if (length(extra)) {
    abort_ancify(
      sprintf(
        paste(
          "`tree` has %s, but the patterns have no such bases. Count the bases of a focal species",
          "too: without them, the place where its lineage joins is unknown."
        ),
        enumerate(quoted(extra))
      ),
      "input"
    )
  }
  # The counts may have focal bases that the tree does not need.
  if (is.null(given_focal) && !is.null(focal) && !focal %in% tree$tip.label) focal <- NULL
  unused <- setdiff(attr(patterns, "focal"), focal)
  others <- setdiff(species, c(focal, unused))
  stop_on_tree_problems(tree, others, focal)
  if (length(tree$tip.label) < 2) abort_ancify("`tree` must have at least two species.", "input")
  columns <- match(c(others, focal), species)
  letters <- lapply(columns, function(i) substr(patterns$pattern, i, i))
  totals <- total_counts(data.frame(
    pattern = toupper(do.call(paste0, letters)), count = patterns$count
  ))
  check_all_known(totals, c(others, focal))
  list(patterns = totals$pattern, counts = totals$count, species = others, focal = focal)
}

# The place of a species without a base is unknown.
check_all_known <- function(totals, species) {
  known <- vapply(seq_along(species), function(i) {
    any(substr(totals$pattern[totals$count > 0], i, i) %in% rate_labels$base)
  }, NA)
  if (!all(known)) {
    abort_ancify(
      sprintf(
        "No site has a base of %s, so the place in the tree is unknown: leave out this species.",
        enumerate(quoted(species[!known]))
      ),
      "input"
    )
  }
}

check_pattern_widths <- function(patterns, species) {
  wrong <- which(nchar(patterns) != length(species))
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "The pattern %s has %d bases, but there are %d species: give a base or N for each.",
        show_value(patterns[wrong[1]]),
        nchar(patterns[wrong[1]]), length(species)
      ),
      "input"
    )
  }
}
