# The summary of a run.

#' @export
summary.ancify_run <- function(object, ...) {
  check_method(object = check_called)
  counts <- as.matrix(as.data.frame(unclass(object)[run_counts]))
  counts <- rbind(counts, colSums(counts))
  shares <- counts[, -1, drop = FALSE] / counts[, "length"]
  structure(
    list(
      run = object,
      shares = data.frame(
        chromosome = c(object$chromosome, "all"), length = counts[, "length"], shares,
        row.names = NULL
      ),
      alignments = attr(object, "alignments"), seconds = attr(object, "seconds")
    ),
    class = "summary.ancify_run"
  )
}

#' @export
print.summary.ancify_run <- function(x, ...) {
  config <- attr(x$run, "config")
  write_object("ancify_run", c(config$focal_species, config$method), c(
    genome = config$genome,
    alignments = if (is.data.frame(x$alignments)) alignment_facts(x$alignments),
    seconds = if (length(x$seconds)) {
      paste(sprintf("%s %.1f", names(x$seconds), x$seconds), collapse = ", ")
    },
    calls = config$output_dir
  ))
  shown <- x$shares
  shown$length <- vapply(shown$length, format_count, "")
  shown[-(1:2)] <- lapply(shown[-(1:2)], function(share) sprintf("%.2f %%", 100 * share))
  rows <- c(seq_len(min(nrow(shown) - 1, most_rows_printed)), nrow(shown))
  print(shown[rows, ], row.names = FALSE)
  print_rest(x$run)
  invisible(x)
}

alignment_facts <- function(alignments) {
  bad <- ifelse(alignments$bad > 0, paste0(", ", vapply(alignments$bad, format_count, ""), " bad"),
                "")
  paste(sprintf("%s (%s%s)", alignments$species,
                vapply(alignments$used, count_of, "", "block"), bad), collapse = ", ")
}
