#' Methods for counted k-mers
#'
#' Look up, list and convert the k-mers of [count_kmers()] and [read_kmers()].
#'
#' @param x An object of class `kmers`.
#' @param n Number of k-mers.
#' @param i k-mers to look up: texts or a `DNAStringSet`, each of k bases.
#' @param row.names,optional,... Not used.
#' @return
#' * `length(x)`: the number of distinct k-mers.
#' * `head(x)`, `as.data.frame(x)`: a data frame with the columns `kmer` and `count`, of the first
#'   `n` k-mers or of all, in the order A, C, G, T.
#' * `x[i]`: the counts of k-mers, named by k-mer; 0 for those that `x` lacks, and `NA` for those
#'   with a letter other than A, C, G and T.
#' * `print(x)`: `x`, invisibly.
#' @section Errors:
#' `ancify_input_error`: `i` has a k-mer of another length.
#' @name kmer_methods
#' @examples
#' fasta <- tempfile(fileext = ".fa")
#' writeLines(c(">one", "ACGTACGTNACGTT"), fasta)
#' x <- count_kmers(fasta, 4)
#' length(x)
#' head(x, 2)
#' x[c("ACGT", "TTTT")]
NULL

#' @rdname kmer_methods
#' @export
print.kmers <- function(x, ...) {
  check_no_more(...)
  write_object("kmers", sprintf("k = %d, %s k-mers", x$k, format_count(x$n)), c(
    strands = if (x$canonical) "counted as one (canonical)" else "counted apart",
    counts = sprintf("%s to %s are kept", format_count(x$min_count), format_count(x$max_count)),
    database = if (length(x$path)) x$path else "in memory"
  ))
  invisible(x)
}

#' @rdname kmer_methods
#' @export
length.kmers <- function(x) x[["n"]]

#' @rdname kmer_methods
#' @importFrom utils head
#' @export
head.kmers <- function(x, n = 6, ...) {
  check_no_more(...)
  first_kmers(check_kmers(x), min(check_whole_number(n, "n", 2^52), length(x)))
}

#' @rdname kmer_methods
#' @export
as.data.frame.kmers <- function(x, row.names = NULL, # nolint: object_name_linter.
                                optional = FALSE, ...) {
  check_no_more(...)
  refuse_if(length(x) > .Machine$integer.max,
            "A data frame has at most %s rows, but there are %s k-mers: use head().",
            format_count(.Machine$integer.max), format_count(length(x)))
  first_kmers(check_kmers(x), length(x))
}

first_kmers <- function(x, n) {
  list2DF(with_watch("Reading", function(watch) kmer_rows_impl(x$database, n, watch)))
}

#' @rdname kmer_methods
#' @export
`[.kmers` <- function(x, i) {
  kmers <- toupper(as.character(i))
  wrong <- which(is.na(kmers) | nchar(kmers) != x$k)
  refuse_if(length(wrong), "`i` must be k-mers of %d bases, not %s.", x$k,
            show_value(kmers[wrong[1]]))
  # The N between k-mers keeps them apart.
  along <- counts_along(check_kmers(x), paste(kmers, collapse = "N"))[[1]]
  stats::setNames(along[(seq_along(kmers) - 1) * (x$k + 1) + 1], kmers)
}
