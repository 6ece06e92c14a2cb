#' Compute statistics of a spectrum
#'
#' `sfs_statistics(x)` counts the segregating sites of each population, and estimates the
#' population-scaled mutation rate theta from them.
#'
#' The formulas for n haplotypes and \eqn{\xi_i}{x[i]} sites of i derived copies are:
#' * `segregating`: the number of variable sites, \eqn{S = \sum_i \xi_i}{S = sum(x[i])} over
#'   0 < i < n;
#' * `watterson`: \eqn{S / \sum_{i=1}^{n-1} 1/i}{S / sum(1/i)} (Watterson 1975);
#' * `pi`: the mean number of differences between two haplotypes,
#'   \eqn{\sum_i \xi_i 2 i (n - i) / (n (n - 1))}{sum(x[i] * 2 * i * (n - i) / (n * (n - 1)))}
#'   (Tajima 1983);
#' * `tajima_d`: (`pi` - `watterson`) over its standard deviation in a population of constant size
#'   (Tajima 1989).
#'
#' Folding changes none of them. In a joint spectrum, a population's statistics are those of its
#' [marginal_sfs()]. Masked cells are not data: masking more than the two cells of invariant sites
#' makes all statistics too small.
#'
#' @param x An [sfs()].
#' @return A data frame with a row for each population: `population` (name or index),
#'   `haplotypes`, `segregating`, `watterson`, `pi` and `tajima_d`. Some are `NaN`:
#'
#'   | Case | `NaN` |
#'   | --- | --- |
#'   | no site varies, or fewer than four haplotypes | `tajima_d` |
#'   | one haplotype | `watterson`, `pi` and `tajima_d` |
#' @section Errors:
#' * `ancify_input_error`: `x` is not a valid spectrum.
#' @references
#' Watterson (1975) On the number of segregating sites in genetical models without recombination.
#' Theoretical Population Biology 7:256.
#'
#' Tajima (1983) Evolutionary relationship of DNA sequences in finite populations. Genetics 105:437.
#'
#' Tajima (1989) Statistical method for testing the neutral mutation hypothesis by DNA polymorphism.
#' Genetics 123:585.
#' @seealso [sfs_fst()], [sfs()]
#' @export
#' @examples
#' sfs_statistics(sfs(c(0, 12, 5, 3, 2, 0), "YRI"))
sfs_statistics <- function(x) {
  check_args(x = check_sfs)
  rows <- lapply(seq_along(dim(x)), function(k) population_statistics(marginal_sfs(x, k)))
  data.frame(population = population_labels(x), do.call(rbind, rows))
}

# Statistics of a spectrum of one population.
population_statistics <- function(x) {
  n <- length(x) - 1
  sites <- as.vector(x)[seq_len(n - 1) + 1]
  sites[is.na(sites)] <- 0
  copies <- seq_len(n - 1)
  segregating <- sum(sites)
  watterson <- segregating / sum(1 / copies)
  pi <- sum(sites * 2 * copies * (n - copies) / (n * (n - 1)))
  if (n < 2) watterson <- pi <- NaN
  data.frame(
    haplotypes = n, segregating, watterson, pi,
    tajima_d = (pi - watterson) / sqrt(tajima_variance(n, segregating))
  )
}

# The variance of pi minus Watterson's estimate, equation (38) of Tajima (1989).
tajima_variance <- function(n, segregating) {
  if (n < 4) {
    return(NaN)
  }
  a1 <- sum(1 / seq_len(n - 1))
  a2 <- sum(1 / seq_len(n - 1)^2)
  b1 <- (n + 1) / (3 * (n - 1))
  b2 <- 2 * (n^2 + n + 3) / (9 * n * (n - 1))
  c1 <- b1 - 1 / a1
  c2 <- b2 - (n + 2) / (a1 * n) + a2 / a1^2
  c1 / a1 * segregating + c2 / (a1^2 + a2) * segregating * (segregating - 1)
}

#' Compute Fst between populations
#'
#' `sfs_fst(x)` estimates the differentiation (Fst) of the populations of a joint spectrum, by the
#' estimator of Weir and Cockerham (1984).
#'
#' The estimate is the variance between populations over the total variance, each summed over
#' sites. It uses haplotypes as sample sizes, which is the paper's case of random mating (p. 1363).
#' For samples from one population its mean is 0. The program dadi substitutes haplotypes for the
#' paper's individuals; its values are larger for small samples.
#'
#' @param x An [sfs()] of at least two populations, folded or not. [marginal_sfs()] selects two.
#' @return A number; `NaN` if no site varies.
#' @section Errors:
#' * `ancify_input_error`: `x` is not a valid spectrum, has one population, or has one haplotype in
#'   each population.
#' @references
#' Weir and Cockerham (1984) Estimating F-statistics for the analysis of population structure.
#' Evolution 38:1358.
#' @seealso [sfs_statistics()]
#' @export
#' @examples
#' x <- sfs(matrix(c(0, 9:1, 5, 0), 3, 4), c("YRI", "CEU"))
#' sfs_fst(x)
sfs_fst <- function(x) {
  check_args(x = check_sfs)
  n <- dim(x) - 1
  r <- length(n)
  refuse_if(r < 2 || all(n == 1),
            "`x` must have at least two populations, and a second haplotype in one of them.")
  data <- !attr(x, "mask")
  sites <- as.vector(unclass(x))[data]
  frequency <- t((arrayInd(which(data), dim(x)) - 1)) / n
  mean_n <- mean(n)
  nc <- (sum(n) - sum(n^2) / sum(n)) / (r - 1)
  mean_frequency <- colSums(n * frequency) / sum(n)
  between <- colSums(n * (frequency - rep(mean_frequency, each = r))^2) / ((r - 1) * mean_n)
  within <- mean_n / (mean_n - 1) *
    (mean_frequency * (1 - mean_frequency) - (r - 1) / r * between)
  a <- mean_n / nc * (between - within / mean_n)
  sum(sites * a) / sum(sites * (a + within))
}
