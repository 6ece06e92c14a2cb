#' Count the contexts in which mutations could have happened
#'
#' `count_contexts(run, k = 3)` counts the ancestral k-mers around all genomic positions that could
#' have been sites. [mutation_rates()] divides a spectrum by them.
#'
#' A position counts if [mutation_spectrum()] with the same arguments would use a site there. Thus
#' it and its neighbouring bases are called, and it is not in `mask`. Contexts are folded like
#' types.
#'
#' A VCF lacks sites in filtered or unsequenced regions. Add these regions to `mask`; otherwise the
#' rates are too low.
#'
#' @param ancestral The ancestral sequences, in the forms of [mutation_spectrum()]. All sequences
#'   count. For a spectrum with `context = "reference"`, give the reference, which may be a 2bit
#'   file. Positions without an ancestral base then count too, so rates are too low.
#' @param k Length of the contexts in bases: 1, 3 (the default), 5, 7 or 9.
#' @param windows Length of windows in bases, as for the spectrum. `NULL` (the default): whole
#'   chromosomes.
#' @param low_confidence Whether to count contexts with lower case; `TRUE` (the default). Lower case
#'   marks repeats in a reference, so keep `TRUE` there.
#' @inheritParams mutation_spectrum
#' @return A numeric vector of class `mutation_contexts`: the number of positions with each
#'   context, named by contexts. Its attribute `windows` is a data frame of `chromosome`, `start`
#'   and `end`. `as.data.frame(x, by_window = TRUE)` gives the counts of each window.
#' @section Errors:
#' * `ancify_calls_warning`: a folder mixes calls of several configurations.
#' * `ancify_input_error`: `k` is even or above 9, sequences are absent, or `mask` has none of
#'   their chromosomes.
#' * `ancify_format_error`: a file is not FASTA or BED, or a chromosome has two sequences.
#' * `ancify_file_error`: a file cannot be read.
#' @seealso [mutation_spectrum()], [mutation_rates()]
#' @export
#' @examples
#' calls <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "ACACGTNACG"), calls)
#' x <- count_contexts(calls, threads = 1)
#' x[x > 0]
count_contexts <- function(ancestral, k = 3, mask = NULL, windows = NULL, low_confidence = TRUE,
                           fold = c("AC", "pyrimidine"), threads = NULL,
                           progress = interactive()) {
  check_given()
  ancestral <- folder_of_calls(ancestral, "ancestral")
  check_args(k = check_k, mask = optional(one_path()), windows = optional(whole(2^53)),
             low_confidence = flag(), fold = choice(spectrum_folds))
  work <- new_work(threads, progress = progress)
  options <- core_list(
    "ContextOptions",
    k = k, mask = mask %||% "", low_confidence = low_confidence, window = windows %||% 0,
    work = work
  )
  files <- all_sequence_files(ancestral)
  found <- with_watch("Counting contexts", function(watch) {
    count_contexts_impl(files, options, watch)
  }, work$progress)
  contexts <- fold_words(core_contexts(k), fold)
  order <- order(contexts, method = "radix")
  by_window <- data.frame(
    window = found$sums$window + 1L, row = order(order)[found$sums$cell + 1],
    count = found$sums$count
  )
  structure(
    stats::setNames(sum_cells(by_window$row, by_window$count, length(contexts)), contexts[order]),
    fold = fold, rules = list(low_confidence = low_confidence, mask = mask, windows = windows),
    windows = windows_along(found$chromosomes, found$lengths, windows), by_window = by_window,
    class = "mutation_contexts"
  )
}

# The files of all chromosomes, as from sequence_files(), named by file.
all_sequence_files <- function(path) {
  if (!dir.exists(path) && !has_placeholder(path)) {
    return(chromosome_files("", path))
  }
  folder <- path
  if (dir.exists(path)) path <- file.path(path, "{chrom}.fa")
  parts <- strsplit(path, "{chrom(_id)?}", perl = TRUE)[[1]]
  files <- list.files(dirname(path), full.names = TRUE, all.files = TRUE)
  before <- parts[1]
  after <- paste(parts[-1], collapse = "")
  fits <- startsWith(files, before) & endsWith(files, after) &
    nchar(files) > nchar(before) + nchar(after)
  files <- stats::na.omit(only_of_run(files[fits], folder))
  chromosomes <- substr(files, nchar(before) + 1, nchar(files) - nchar(after))
  refuse_if(!length(files), "`ancestral`: there is no file like %s: correct the path.",
            quoted(path))
  warn_about_mixed_calls(files)
  order <- natural_order(chromosomes)
  chromosome_files(chromosomes[order], files[order])
}

#' @export
print.mutation_contexts <- function(x, ...) {
  write_object(
    "mutation_contexts", sprintf("%d-mers", nchar(names(x)[1])),
    c(positions = format_count(sum(x)), windows = format_windows(x))
  )
  shown <- utils::head(as.data.frame(x), 6)
  shown$count <- format_count(shown$count)
  writeLines(sprintf("  %s  %s", format(shown$context), format(shown$count, justify = "right")))
  if (length(x) > 6) writeLines("  ...")
  invisible(x)
}

#' @export
as.data.frame.mutation_contexts <- function(x, row.names = NULL, # nolint: object_name_linter.
                                            optional = FALSE, ..., by_window = FALSE) {
  check_method(by_window = flag())
  if (by_window) {
    rows <- attr(x, "by_window")
    windows <- attr(x, "windows")[rows$window, ]
    return(data.frame(windows, context = names(x)[rows$row], count = rows$count, row.names = NULL))
  }
  data.frame(context = names(x), count = as.vector(unclass(x)))
}

# "3 of 1,000,000 bases on 2 chromosomes"
format_windows <- function(x) {
  windows <- attr(x, "windows")
  size <- attr(x, "rules")$windows
  chromosomes <- count_of(length(unique(windows$chromosome)), "chromosome")
  if (is.null(size)) {
    return(chromosomes)
  }
  sprintf("%s of %s bases on %s", format_count(nrow(windows)), format_count(size), chromosomes)
}
