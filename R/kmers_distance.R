#' Distances by k-mers
#'
#' Compares samples by the k-mers that they share: `ape::nj(kmer_distance(list(a = x, b = y)))`. All
#' distances are exact; there are no sketches.
#'
#' | Method | Distance |
#' | :--- | :--- |
#' | `jaccard` | 1 - J, with J = shared k-mers / k-mers of either |
#' | `containment` | 1 - shared k-mers / k-mers of the sample with fewer |
#' | `mash` | -log(2 J / (1 + J)) / k, substitutions per base; infinite for J = 0 |
#' | `bray` | Bray-Curtis: 1 - 2 x sum of smaller counts / sum of all counts |
#' | `cosine` | 1 - cosine of the angle between the counts |
#' | `d2s`, `d2star` | (1 - cosine) / 2 for counts less those expected by chance |
#'
#' **By chance.** Let X be a count less its expectation E under a Markov chain of the sample's own
#' bases. `d2star` takes the cosine for X / sqrt(E) of both samples. `d2s` takes it for
#' X / (X^2 + Y^2)^(1/4), where Y is the other sample's X. The chain is fitted to the first bases of
#' the k-mers, on both strands if these are canonical.
#'
#' @param x A list of objects of class `kmers`, or a matrix of [kmer_matrix()].
#' @param method One of the methods of the table. `d2s` and `d2star` need k of at most 12, and all
#'   columns of a matrix.
#' @param order For `d2s` and `d2star`: the order of the Markov chain, that is, the number of
#'   preceding bases on which a base depends; 0 to 2, and below k.
#' @return A `dist` with the names of `x`, for [ape::nj()] or [stats::hclust()]. A sample without
#'   k-mers shares nothing with others: its distance is 1, but infinite for `mash`, and 0.5 for
#'   `d2s` and `d2star`. The distance of two such samples is `NaN`.
#' @section Warnings:
#' `ancify_sequence_warning`: a sample has no k-mers.
#' @section Errors:
#' `ancify_input_error`: `x` has the wrong shape, fewer than two samples, different k or strands, or
#' a k that the method does not accept; a count is missing or negative; a column's name is not a
#' k-mer; or `order` is out of range.
#' @references
#' Ondov BD et al. (2016) Mash: fast genome and metagenome distance estimation using MinHash.
#' Genome Biology 17: 132.
#'
#' Song K et al. (2014) New developments of alignment-free sequence comparison: measures, statistics
#' and next-generation sequencing. Briefings in Bioinformatics 15: 343-353.
#' @seealso [count_kmers()], [kmer_matrix()]
#' @export
#' @examples
#' m <- kmer_matrix(c(a = "ACGTTGCA", b = "ACGTTGCC", c = "GGGGTGCC"), 3)
#' kmer_distance(m)
#' ape::nj(kmer_distance(m, "bray"))
kmer_distance <- function(x, method = "jaccard", order = 0) {
  check_args(method = choice(c(names(kmer_measures), names(centred_measures))))
  samples <- kmer_samples(x)
  measure <- kmer_measures[[method]]
  between <- if (is.null(measure)) {
    by_chance(samples, centred_measures[[method]], order)
  } else {
    function(i, j) measure(samples$compare(i, j), samples$k)
  }
  n <- length(samples$names)
  is_empty <- samples$sizes == 0
  if (any(is_empty)) {
    warn_ancify(
      sprintf("%s no k-mers, so nothing is shared with others: leave out %s.",
              count_with_verb(sum(is_empty), "sample"), enumerate(quoted(samples$names[is_empty]))),
      "sequence"
    )
  }
  distances <- matrix(0, n, n, dimnames = list(samples$names, samples$names))
  for (i in seq_len(n - 1)) {
    for (j in seq(i + 1, n)) {
      distances[j, i] <- if (is_empty[i] && is_empty[j]) NaN else between(i, j)
    }
  }
  stats::as.dist(distances)
}

# Each takes the sums of compare_counts() and k.
kmer_measures <- list(
  jaccard = function(s, k) 1 - s$shared / (s$one + s$other - s$shared),
  containment = function(s, k) 1 - or_zero(s$shared / min(s$one, s$other)),
  mash = function(s, k) {
    jaccard <- s$shared / (s$one + s$other - s$shared)
    -log(2 * jaccard / (1 + jaccard)) / k
  },
  bray = function(s, k) 1 - 2 * s$least / s$total,
  cosine = function(s, k) 1 - or_zero(s$product / sqrt(s$square_one * s$square_other))
)

# list(names =, sizes = k-mers of each, k =, canonical =, compare = function(i, j),
# counts = function(i) of all k-mers).
kmer_samples <- function(x) {
  if (is.matrix(x) || inherits(x, "dgCMatrix")) {
    return(samples_of_matrix(x))
  }
  if (!is.list(x) || inherits(x, "kmers") || !all(vapply(x, inherits, NA, "kmers"))) {
    abort_no_samples(x)
  }
  check_two_samples(length(x))
  check_same_kind(x)
  x <- lapply(x, check_kmers)
  k <- x[[1]]$k
  canonical <- x[[1]]$canonical
  list(
    names = names(x) %||% seq_along(x), sizes = vapply(x, length, 0), k = k, canonical = canonical,
    compare = function(i, j) compare_kmers(x[[i]], x[[j]]),
    counts = function(i) unname(x[[i]][kmer_texts(k, kmer_numbers(k, canonical)$number)])
  )
}

samples_of_matrix <- function(x) {
  if (is.null(colnames(x)) || !(is.numeric(x) || isS4(x))) abort_no_samples(x)
  check_two_samples(nrow(x))
  check_kmer_cells(x)
  k <- nchar(colnames(x)[1])
  canonical <- ncol(x) != 4^k
  columns <- if (isS4(x)) Matrix::t(x) else t(x)
  list(
    names = rownames(x) %||% seq_len(nrow(x)),
    sizes = vapply(seq_len(nrow(x)), function(i) sum(columns[, i] > 0), 0), k = k,
    canonical = canonical,
    compare = function(i, j) compare_counts(columns[, i], columns[, j]),
    counts = function(i) {
      refuse_if(!identical(colnames(x), kmer_texts(k, kmer_numbers(k, canonical)$number)),
                "This method needs all columns of a matrix of kmer_matrix().")
      as.numeric(columns[, i])
    }
  )
}

check_kmer_cells <- function(x) {
  kmers <- colnames(x)
  wrong <- which(nchar(kmers) != nchar(kmers[1]) | grepl("[^ACGT]", kmers))[1]
  refuse_if(!is.na(wrong),
            "`x` must have a k-mer as the name of each column, all of one length, not %s.",
            quoted(kmers[wrong]))
  counts <- if (isS4(x)) x@x else x
  wrong <- which(!(is.finite(counts) & counts >= 0))[1]
  refuse_if(!is.na(wrong), "`x` has the count %s: a count is a number from 0.",
            format(counts[wrong]))
}

abort_no_samples <- function(x) {
  refuse_input("`x` must be a list of k-mers, or a matrix of kmer_matrix(), not %s.", show_value(x))
}

check_two_samples <- function(n) {
  refuse_if(n < 2, "`x` must have two samples or more.")
}

# The sums of two samples' counts that the measures need.
compare_counts <- function(a, b) {
  a <- as.numeric(a)
  b <- as.numeric(b)
  list(
    one = sum(a > 0), other = sum(b > 0), shared = sum(a > 0 & b > 0), least = sum(pmin(a, b)),
    total = sum(a) + sum(b), product = sum(a * b), square_one = sum(a^2), square_other = sum(b^2)
  )
}

# These sums, from one merge of two databases.
compare_kmers <- function(x, y) {
  with_watch("Comparing", function(watch) compare_kmers_impl(x$database, y$database, watch))
}
