#' Compute statistics of a spectrum
#'
#' How many sites vary in each population, and estimates of the population-scaled mutation rate
#' theta from them.
#'
#' Of n haplotypes with \eqn{\xi_i}{x[i]} sites of i derived copies:
#' * `segregating`: the number of sites that vary, \eqn{S = \sum_i \xi_i}{S = sum(x[i])} over
#'   0 < i < n;
#' * `watterson`: \eqn{S / \sum_{i=1}^{n-1} 1/i}{S / sum(1/i)} (Watterson 1975);
#' * `pi`: the mean number of differences between two haplotypes,
#'   \eqn{\sum_i \xi_i 2 i (n - i) / (n (n - 1))}{sum(x[i] * 2 * i * (n - i) / (n * (n - 1)))}
#'   (Tajima 1983);
#' * `tajima_d`: their difference over its standard deviation in a population of constant size
#'   (Tajima 1989).
#'
#' All are the same of a folded spectrum. In a joint spectrum, those of a population are of its
#' sites alone, as [marginal_sfs()] gives them. Masked cells are not data: a mask that goes beyond
#' the two cells of sites that do not vary makes all of them too small.
#'
#' @param x An [sfs()].
#' @return A data frame with a row a population: `population`, its name or number; `haplotypes`;
#'   `segregating`, `watterson`, `pi` and `tajima_d`, numbers. `tajima_d` is `NaN` where nothing
#'   varies, and for fewer than four haplotypes, where its variance is none; all are `NaN` for one
#'   haplotype.
#' @section Errors:
#' `ancify_input_error` for what is not a whole spectrum.
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
  check_given()
  check_sfs(x)
  rows <- lapply(seq_along(dim(x)), function(k) population_statistics(marginal_sfs(x, k)))
  data.frame(population = population_labels(x), do.call(rbind, rows))
}

# Of a spectrum of one population.
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

# Of pi less Watterson's estimate, equation (38) of Tajima (1989).
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
#' The differentiation (Fst) of the populations of a joint spectrum, by Weir and Cockerham's (1984)
#' estimator for haplotypes drawn at random: the variance between populations over the whole, each
#' summed over all sites.
#'
#' The sample sizes of a spectrum are haplotypes, and the estimator takes them as such, which is the
#' paper's for individuals under random mating (p. 1363). Of samples from one population it is 0 on
#' average. The program dadi puts haplotypes where the paper has individuals; its values are larger
#' for small samples.
#'
#' @param x An [sfs()] of two populations or more, folded or not. [marginal_sfs()] chooses two.
#' @return A number, `NaN` where nothing varies.
#' @section Errors:
#' `ancify_input_error` for what is not a whole spectrum, one of one population, or with a single
#' haplotype in each.
#' @references
#' Weir and Cockerham (1984) Estimating F-statistics for the analysis of population structure.
#' Evolution 38:1358.
#' @seealso [sfs_statistics()]
#' @export
#' @examples
#' x <- sfs(matrix(c(0, 9:1, 5, 0), 3, 4), c("YRI", "CEU"))
#' sfs_fst(x)
sfs_fst <- function(x) {
  check_given()
  check_sfs(x)
  n <- dim(x) - 1
  r <- length(n)
  if (r < 2 || all(n == 1)) {
    abort_ancify(
      "`x` must have two populations or more, and a second haplotype in one of them.", "input"
    )
  }
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
