#' Distances by k-mers
#'
#' Compares samples by the k-mers that they share: `ape::nj(kmer_distance(list(a = x, b = y)))`. All
#' distances are exact; there are no sketches.
#'
#' | Method | Distance |
#' | :--- | :--- |
#' | `jaccard` | 1 - J, with J = shared k-mers / k-mers of either |
#' | `containment` | 1 - shared k-mers / k-mers of the sample that has fewer |
#' | `mash` | -log(2 J / (1 + J)) / k, substitutions a base; infinite for J = 0 |
#' | `bray` | Bray-Curtis: 1 - 2 x sum of smaller counts / sum of all counts |
#' | `cosine` | 1 - cosine of the angle between the counts |
#'
#' @param x A list of objects of class `kmers`, or a matrix of [kmer_matrix()].
#' @param method One of the methods of the table.
#' @return A `dist` with the names of `x`, for [ape::nj()] or [stats::hclust()]. It is `NaN` for two
#'   samples without k-mers.
#' @section Errors:
#' `ancify_input_error`: `x` has another shape, fewer than two samples, or different k or strands.
#' @references
#' Ondov BD et al. (2016) Mash: fast genome and metagenome distance estimation using MinHash.
#' Genome Biology 17: 132.
#' @seealso [count_kmers()], [kmer_matrix()]
#' @export
#' @examples
#' m <- kmer_matrix(c(a = "ACGTTGCA", b = "ACGTTGCC", c = "GGGGTGCC"), 3)
#' kmer_distance(m)
#' ape::nj(kmer_distance(m, "bray"))
kmer_distance <- function(x, method = "jaccard") {
  check_given()
  measure <- kmer_measures[[check_choice(method, names(kmer_measures), "method")]]
  samples <- kmer_samples(x)
  n <- length(samples$names)
  distances <- matrix(0, n, n, dimnames = list(samples$names, samples$names))
  for (i in seq_len(n - 1)) {
    for (j in seq(i + 1, n)) {
      distances[j, i] <- measure(samples$compare(i, j), samples$k)
    }
  }
  stats::as.dist(distances)
}

# Each takes the sums of compare_counts() and k.
kmer_measures <- list(
  jaccard = function(s, k) 1 - s$shared / (s$one + s$other - s$shared),
  containment = function(s, k) 1 - s$shared / min(s$one, s$other),
  mash = function(s, k) {
    jaccard <- s$shared / (s$one + s$other - s$shared)
    -log(2 * jaccard / (1 + jaccard)) / k
  },
  bray = function(s, k) 1 - 2 * s$least / s$total,
  cosine = function(s, k) 1 - s$product / sqrt(s$square_one * s$square_other)
)

# list(names =, k =, compare = a function of two numbers of samples).
kmer_samples <- function(x) {
  if (is.matrix(x) || inherits(x, "dgCMatrix")) {
    check_two_samples(nrow(x))
    return(list(
      names = rownames(x) %||% seq_len(nrow(x)), k = nchar(colnames(x)[1]),
      compare = function(i, j) compare_counts(x[i, ], x[j, ])
    ))
  }
  if (!is.list(x) || inherits(x, "kmers") || !all(vapply(x, inherits, NA, "kmers"))) {
    abort_ancify(
      sprintf("`x` must be a list of k-mers, or a matrix of kmer_matrix(), not %s.", show_value(x)),
      "input"
    )
  }
  check_two_samples(length(x))
  check_same_kind(x)
  x <- lapply(x, check_kmers)
  list(
    names = names(x) %||% seq_along(x), k = x[[1]]$k,
    compare = function(i, j) compare_kmers(x[[i]], x[[j]])
  )
}

check_two_samples <- function(n) {
  if (n < 2) abort_ancify("`x` must have two samples or more.", "input")
}

# What the measures need of the counts of two samples.
compare_counts <- function(a, b) {
  a <- as.numeric(a)
  b <- as.numeric(b)
  list(
    one = sum(a > 0), other = sum(b > 0), shared = sum(a > 0 & b > 0), least = sum(pmin(a, b)),
    total = sum(a) + sum(b), product = sum(a * b), square_one = sum(a^2), square_other = sum(b^2)
  )
}

# The same by one merge of two databases.
compare_kmers <- function(x, y) {
  with_watch("Comparing", function(watch) compare_kmers_impl(unclass(x), unclass(y), watch))
}
