#' Set operations with k-mers
#'
#' Makes the union, intersection or difference of counted k-mers, or selects k-mers by count, in one
#' pass over the sorted k-mers.
#'
#' @param x,y Objects of class `kmers` with the same k, both canonical or neither.
#' @param count The count of a k-mer that is in both: the `"sum"`, the smaller (`"min"`) or the
#'   larger count (`"max"`), or the count in `x` (`"left"`) or in `y` (`"right"`). For
#'   `kmer_subtract()`, `"left"` leaves out all k-mers of `y`; `"diff"` subtracts counts, and leaves
#'   out k-mers whose count falls to 0.
#' @param min_count,max_count Smallest and largest count of the k-mers to keep.
#' @param out,threads As in [count_kmers()].
#' @return An object of class `kmers`.
#' @section Errors:
#' `ancify_input_error`: `x` and `y` differ in k or strands, or `out` is one of them.
#' `ancify_format_error`: a database is damaged. `ancify_file_error`: `out` cannot be written.
#' @seealso [count_kmers()]
#' @export
#' @examples
#' sample_of <- function(bases) {
#'   writeLines(c(">a", bases), fasta <- tempfile())
#'   count_kmers(fasta, 3)
#' }
#' x <- sample_of("ACGACGACG")
#' y <- sample_of("ACGATTT")
#' as.data.frame(kmer_union(x, y))
#' as.data.frame(kmer_intersect(x, y, "max"))
#' as.data.frame(kmer_subtract(x, y, "diff"))
#' as.data.frame(filter_kmers(x, min_count = 3))
kmer_union <- function(x, y, count = "sum", out = NULL, threads = NULL) {
  check_args(count = choice(both_rules))
  combine_kmers("union", x, y, count, out, new_work(threads, memory = NULL))
}

#' @rdname kmer_union
#' @export
kmer_intersect <- function(x, y, count = "min", out = NULL, threads = NULL) {
  check_args(count = choice(both_rules))
  combine_kmers("intersect", x, y, count, out, new_work(threads, memory = NULL))
}

#' @rdname kmer_union
#' @export
kmer_subtract <- function(x, y, count = "left", out = NULL, threads = NULL) {
  check_args(count = choice(c("left", "diff")))
  combine_kmers("subtract", x, y, count, out, new_work(threads, memory = NULL))
}

#' @rdname kmer_union
#' @export
filter_kmers <- function(x, min_count = 1, max_count = 2^32 - 1, out = NULL, threads = NULL) {
  check_args(x = check_kmers)
  settings <- kmer_settings(x$k, x$canonical, min_count, max_count)
  output <- kmer_output(out, new_work(threads, memory = NULL), kmc_files(x))
  new_kmers(with_watch("Filtering", function(watch) {
    filter_kmers_impl(x$database, settings, output, watch)
  }), out)
}

# In the order of the core's lists
kmer_operations <- c("union", "intersect", "subtract")
both_rules <- c("sum", "min", "max", "left", "right")

combine_kmers <- function(operation, x, y, rule, out, work) {
  check_args(x = check_kmers, y = check_kmers)
  check_same_kind(list(x = x, y = y))
  how <- core_list(
    "KmerCombination",
    operation = match(operation, kmer_operations) - 1,
    rule = match(rule, c(both_rules, "diff")) - 1,
    settings = kmer_settings(x$k, x$canonical, 1, most_count)
  )
  output <- kmer_output(out, work, c(kmc_files(x), kmc_files(y)))
  new_kmers(with_watch("Merging", function(watch) {
    combine_kmers_impl(x$database, y$database, how, output, watch)
  }), out)
}

# `kmers`: a list of k-mers.
check_same_kind <- function(kmers) {
  k <- unique(vapply(kmers, function(x) x$k, 0L))
  refuse_if(length(k) > 1, "The k-mers have different k, %s: count all with one `k`.", enumerate(k))
  refuse_if(length(unique(vapply(kmers, function(x) x$canonical, NA))) > 1,
            "Some k-mers are canonical, others not: count all with one `canonical`.")
}
