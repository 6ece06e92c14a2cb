#' Count site patterns
#'
#' Counts each site pattern: the bases of all species at one position. Substitution models and
#' histories are fitted to these counts. For example: `count_patterns("ancify.yaml")`.
#'
#' With a configuration, the patterns of the projected sequences in `<work_dir>/projected` are
#' counted, one chromosome after another. [ancify_run()] with the phase `"project"` writes these
#' sequences.
#'
#' The focal base is the last base of a pattern. Fits need it to place the focal lineage on the
#' tree. It is read from `<work_dir>/projected/<focal_species>`. Missing files there are first made
#' from `focal_fasta`, or else from the focal rows of the alignments.
#'
#' @param x A configuration (a path, a list or an [ancify_config()]), or the sequences of the inner
#'   outgroups as in [call_ancestral()].
#' @param outer Sequences of the outer outgroups, if `x` is sequences; `NULL` (the default) for
#'   none.
#' @param focal With a configuration: `TRUE` (the default) includes the focal base, and is an error
#'   if it is unavailable; `FALSE` omits it. With sequences: the focal sequence, named by its
#'   species; `TRUE` or `FALSE` for none.
#' @param threads Number of threads; `NULL` (the default) for `num_cpus` of a configuration, else
#'   for `getOption("ancify.threads")` or all cores.
#' @param backend `"auto"`, `"cpu"` or `"gpu"`; `NULL` (the default) for `backend` of a
#'   configuration, else `"auto"`. Counting always runs on the CPU.
#' @param progress `TRUE` shows a progress bar after two seconds; by default only in interactive
#'   sessions.
#' @param by `"cpg"` counts the patterns of each class of neighbours separately, for a
#'   [substitution_model()] by class. `NULL` (the default): as `model_classes` of a configuration
#'   needs, otherwise all patterns together.
#' @return A data frame of class `ancify_patterns` with a row for each pattern of a chromosome. The
#'   attribute `species` holds the species in the order of the bases, and `focal` the focal species
#'   or `NULL`.
#'
#'   | Column | Meaning |
#'   | --- | --- |
#'   | `chromosome` | its name, or `"sequences"` if sequences were given |
#'   | `pattern` | a base or `N` for each species |
#'   | `neighbours` | only with `by`: the class of the position, see [cpg_class()] |
#'   | `count` | the number of positions |
#' @section Errors:
#' * `ancify_projection_warning`: projections were made from another alignment than the
#'   configuration names.
#' * `ancify_config_error`, `ancify_file_error`, `ancify_format_error`: as in [ancify_run()].
#' * `ancify_input_error`: sequences differ in length, or two are of one species; or `by` is given
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
    work <- new_work(threads, backend %||% "auto", progress = progress)
    return(count_in_memory(x, outer, focal, work, by))
  }
  check_flag(focal, "focal")
  config <- read_config(x, "count")
  config$backend <- backend %||% config$backend
  config$num_cpus <- threads %||% config$num_cpus
  count_in_run(config, focal, config_work(config, progress), by %||% classes_by(config))
}

count_in_run <- function(config, focal, work, by) {
  if (focal && !has_focal(config)) work_in(new_context(config, work), "project", ensure_focal)
  warn_about_kept_projections(config)
  count_projected(config, focal, work, by)
}

# A single unnamed text is a configuration's path, unless `outer` is given.
is_config <- function(x, outer) {
  is.list(x) || (is.character(x) && length(x) == 1 && is.null(names(x)) && is.null(outer))
}

count_in_memory <- function(inner, outer, focal, work, by) {
  sequences <- c(as_tier(inner, "x", TRUE), as_tier(outer, "outer", TRUE))
  with_focal <- !isTRUE(focal) && !isFALSE(focal)
  if (with_focal) sequences <- c(sequences, one_focal(focal))
  check_sequences(sequences, length(inner), "x")
  species <- names(sequences) %||% rep("", length(sequences))
  outgroups <- length(species) - with_focal
  refuse_if(!is.null(by) && outgroups == 0,
            "`by` needs an outgroup: classes are by the outgroups' bases.")
  counts <- with_watch("Counting patterns", function(watch) {
    classed_by <- if (is.null(by)) 0L else outgroups
    count_patterns_in_memory_impl(sequences, classed_by, work, watch)
  }, work$progress)
  new_patterns(list(sequences = counts), species, if (with_focal) species[length(species)], by)
}

# Checks that `focal` is one named sequence.
one_focal <- function(focal) {
  focal <- as_sequences(focal, "focal")
  refuse_if(length(focal) != 1 || !isTRUE(nzchar(names(focal))),
            "`focal` must be one sequence with the focal species' name, not %s%s.",
            count_of(length(focal), "sequence"),
            if (is.null(names(focal))) " without a name" else "")
  focal
}

count_projected <- function(config, focal, work, by = classes_by(config)) {
  species <- c(config$outgroups$name, if (focal) config$focal_species)
  folders <- projected_folder(config, species)
  check_projected(species, config)
  counts <- with_watch("Counting patterns", function(watch) {
    classed_by <- if (is.null(by)) 0L else nrow(config$outgroups)
    count_patterns_in_files_impl(folders, classed_by, config$lengths, work, watch)
  }, work$progress, inputs = expected_inputs(config))
  new_patterns(counts, species, if (focal) config$focal_species, by)
}
