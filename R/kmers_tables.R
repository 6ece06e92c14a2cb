#' Histogram and profile of k-mers
#'
#' `kmer_histogram()` gives the number of k-mers with each count. `kmer_profile()` gives the counts
#' along sequences.
#'
#' @param x An object of class `kmers`.
#' @param sequences Sequences as a character vector or a `DNAStringSet`. Paths are refused.
#' @return `kmer_histogram()`: a data frame with the columns `count` and `kmers`, a row for each
#'   count that occurs. `kmer_profile()`: a list with the names of `sequences`. Each element has a
#'   count for each position at which a k-mer begins. It is `NA` if one of the k-mer's bases is not
#'   A, C, G or T.
#' @section Errors:
#' `ancify_input_error`: `sequences` is not text, is a path, or has a letter that does not represent
#' a base. `ancify_format_error` (field `file`): the database is damaged.
#' @seealso [count_kmers()]
#' @export
#' @examples
#' fasta <- tempfile(fileext = ".fa")
#' writeLines(c(">one", "ACGTACGTNACGTT"), fasta)
#' x <- count_kmers(fasta, 4)
#' kmer_histogram(x)
#' kmer_profile(x, c(other = "TACGTANA"))
kmer_histogram <- function(x) {
  check_args(x = check_kmers)
  list2DF(with_watch("Reading", function(watch) kmer_histogram_impl(x$database, watch)))
}

#' @rdname kmer_histogram
#' @export
kmer_profile <- function(x, sequences) {
  check_args(x = check_kmers)
  sequences <- dna_texts(sequences, "sequences")
  stats::setNames(counts_along(x, sequences), names(sequences))
}

counts_along <- function(x, texts) {
  with_watch("Looking up", function(watch) kmer_profile_impl(x$database, texts, watch))
}

#' Count the k-mers of each sequence
#'
#' Makes a matrix with a row for each sequence and a column for each k-mer.
#'
#' @param x Sequences as a named character vector or a `DNAStringSet`. Paths are refused: read files
#'   with `Biostrings::readDNAStringSet()`, or count them with [count_kmers()].
#' @param k Bases of a k-mer, 1 to 12.
#' @param canonical Whether both strands count as one; then only canonical k-mers have columns.
#' @param sparse Whether to make a `dgCMatrix` of the package Matrix instead of a plain matrix.
#' @return A matrix of whole numbers, with the names of `x` and the k-mers as dimnames.
#' @section Errors:
#' `ancify_input_error`: `x` is not text, is a path, or has a letter that does not represent a base;
#' k is out of range; or a plain matrix would have more than 2^31 - 1 cells. `ancify_package_error`:
#' Matrix is not installed.
#' @seealso [kmer_distance()]
#' @export
#' @examples
#' kmer_matrix(c(a = "ACGTT", b = "CCCC"), 2)
kmer_matrix <- function(x, k, canonical = TRUE, sparse = k > 6) {
  check_given()
  x <- dna_texts(x, "x")
  refuse_if(length(x) == 0, "`x` has no sequence.")
  k <- as.integer(check_whole_number(k, "k", 12))
  check_args(canonical = flag(), sparse = flag())
  if (sparse) need_packages("Matrix", "Sparse matrices")
  check_cells(length(x), if (canonical) canonical_words(k) else 4^k, sparse)
  numbers <- kmer_numbers(k, canonical)$number
  rows <- lapply(x, function(bases) kmer_numbers_impl(bases, k, canonical))
  cells <- data.frame(
    row = rep(seq_along(x), vapply(rows, function(row) length(row$number), 0L)),
    column = findInterval(unlist(lapply(rows, `[[`, "number")), numbers),
    count = unlist(lapply(rows, `[[`, "count"))
  )
  shape <- c(length(x), length(numbers))
  names <- list(names(x), kmer_texts(k, numbers))
  if (sparse) {
    return(Matrix::sparseMatrix(
      i = cells$row, j = cells$column, x = as.numeric(cells$count), dims = shape, dimnames = names
    ))
  }
  counts <- matrix(0L, shape[1], shape[2], dimnames = names)
  counts[cbind(cells$row, cells$column)] <- cells$count
  counts
}

# Palindromes, of which there are 4^(k / 2) for even k, are their own reverse complements.
canonical_words <- function(k) (4^k + if (k %% 2 == 0) 4^(k / 2) else 0) / 2

check_cells <- function(rows, columns, sparse) {
  refuse_if(
    !sparse && rows * columns > .Machine$integer.max,
    "The matrix would have %s cells, but it can have %s: choose a smaller k or sparse = TRUE.",
    format_count(rows * columns), format_count(.Machine$integer.max)
  )
}

# The indices, from 0, of all k-mers in order and of their reverse complements.
kmer_numbers <- function(k, canonical) {
  number <- seq_len(4^k) - 1
  opposite <- opposites(k)
  keep <- if (canonical) number <= opposite else TRUE
  list(number = number[keep], opposite = opposite[keep])
}

# The indices of the reverse complements of all k-mers: halves are reverse-complemented and
# exchanged.
opposites <- function(k) {
  if (k == 1) {
    return(c(3, 2, 1, 0))
  }
  half <- k %/% 2
  as.vector(outer(4^(k - half) * opposites(half), opposites(k - half), `+`))
}

kmer_texts <- function(k, number) {
  if (k == 1) {
    return(c("A", "C", "G", "T")[number + 1])
  }
  half <- k %/% 2
  all_texts <- function(k) kmer_texts(k, seq_len(4^k) - 1)
  paste0(all_texts(k - half)[number %/% 4^half + 1], all_texts(half)[number %% 4^half + 1])
}
