#' Kernels of dominance
#'
#' The kernel of dominance deviations: `kernel_dominance(g)`. Beside the genotypes of a fit, its
#' component is the dominance variance.
#'
#' @details
#' A variant whose counted allele has the frequency p in the samples gets the code of GCTA's
#' `--make-grm-d`: 0, 2p and 4p - 2 for no, one and two copies. In Hardy-Weinberg equilibrium this
#' code is uncorrelated with copies. Its variance is then v = (2p(1 - p))^2.
#'
#' A column x is the code minus its mean, times v^(`scale_power` / 2). It is 0 for a missing call.
#' The kernel is the sum of x x' / c, where c is the sum of v^(1 + `scale_power`). So -1 is GCTA's
#' kernel, apart from its expected means and its counts by pair. 0 is the orthogonal coding of
#' Vitezica and others (2013). Variants that do not vary are left out.
#'
#' The kernel is never held as a matrix. Each variant takes two columns, its copies and its
#' heterozygotes. So a pass takes twice the time and the memory of [kernel_grm()].
#'
#' **Heritability.** `h2` of [heritability()] then is the broad sense, and the rows of components
#' give the additive and the dominance share. There are no effects of variants:
#' [predict.reml_fit()] refuses new samples, and `ranef()` gives the values of the fit's own.
#'
#' @inheritParams kernels
#' @param g Genotypes with calls, from [open_genotypes()].
#' @return A list of class `reml_kernel`.
#' @section Errors:
#' * `ancify_input_error`: `g` has dosages, no variant is on `chromosomes`, or none varies in the
#'   samples.
#' @references
#' Zhu, Bakshi, Vinkhuyzen and others (2015) Dominance genetic variation contributes little to the
#' missing heritability for human complex traits. American Journal of Human Genetics 96:377.
#'
#' Vitezica, Varona and Legarra (2013) On the additive and dominant variance and covariance of
#' individuals within the genomic selection scope. Genetics 195:1223.
#' @seealso [kernels], [kernel_interaction()]
#' @export
#' @examples
#' set.seed(1)
#' calls <- matrix(rbinom(80 * 100, 2, 0.4), 80, dimnames = list(paste0("s", 1:80), NULL))
#' g <- open_genotypes(calls)
#' data <- data.frame(id = rownames(calls))
#' data$y <- drop((calls[, 1:30] == 1) %*% rnorm(30, sd = 0.4)) + rnorm(80)
#' fit <- fit_reml(y ~ 1, data, g, kernels = list(dominance = kernel_dominance(g)), threads = 1)
#' heritability(fit)
kernel_dominance <- function(g, scale_power = -1, chromosomes = "autosomes") {
  check_args(g = check_genotypes, scale_power = number())
  refuse_if(gives_dosages(g), paste(
    "Dominance needs calls, but `g` has dosages: open the genotypes with `dosages = FALSE`."
  ))
  g <- genotypes_on(g, chromosomes, "the kernel")
  new_kernel("dominance", g$samples$id, nrow(g), genotypes = g, scale_power = scale_power)
}

# ---- For fits ------------------------------------------------------------------------------------

core_dominance <- function(kernel, rows, n, name) {
  list(kind = "dominance", genotypes = kernel$genotypes[rows, ], scale_power = kernel$scale_power)
}

dominance_fields <- function(kernel) {
  core_list(
    "DominanceKernel",
    genotypes = core_genotypes(kernel$genotypes), scale_power = kernel$scale_power
  )
}
