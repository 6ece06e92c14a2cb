#' Products of kernels
#'
#' `kernel_interaction(k, ~ temperature)` is the kernel of genetic effects that change with an
#' environment. `kernel_product(k1, k2)` is that of interactions between the effects of two kernels,
#' such as epistasis.
#'
#' @details
#' Both are products of entries (Hadamard products), which have no negative eigenvalue.
#'
#' **Interaction.** With a number z for each row of `data`, the kernel is K_ij z_i z_j: effects that
#' are proportional to z. Give z without its mean, and divided by its standard deviation, to compare
#' variances. With a factor, text or logical column, the kernel is K_ij for two rows of a level, and
#' else 0: independent effects in each level. The kernel K itself stays in the model for effects
#' that all environments share. A fixed effect of the environment belongs into the formula.
#' Residual variance by environment is the argument `residual` of [fit_reml()].
#'
#' Interactions multiply by the diagonal of z before and after K. They hold no matrix, and have both
#' paths of [fit_reml()] at any size. A factor of l levels takes l times as many columns.
#'
#' With several rows for a sample ([kernel_groups()]), environments may differ between its rows.
#'
#' **Product.** `kernel_product()` holds a matrix of samples by samples, on the exact path alone.
#' `kernel_product(k, k)` of a [kernel_grm()] is additive-by-additive epistasis.
#'
#' **Heritability.** Variances of both count as genetic in `h2` of [heritability()], unless they are
#' made of [kernel_groups()] alone. Those are environmental: they are in the total, but not in `h2`.
#' There are no effects of variants: [predict.reml_fit()] refuses new samples. `ranef()` gives the
#' values of the fit's own.
#'
#' @param k,k1,k2 Kernels, from [kernels]. `kernel_product()` takes kernels of one component.
#' @param environment A formula of a column of the fit's `data`, such as `~ temperature`: numbers,
#'   or a factor. Rows without a value (`NA` or `NaN`) are dropped and counted.
#' @return A list of class `reml_kernel`.
#' @section Errors:
#' * `ancify_input_error`: an argument is no kernel, or `environment` no formula of one name; or
#'   `k1` and `k2` have no common samples, different numbers of samples, or several components.
#' * `ancify_input_error`, in a fit: `data` lacks the column, or its values are neither finite
#'   numbers nor labels; or a product has `method = "stochastic"`.
#' @references
#' Yang, Lee, Goddard and Visscher (2011) GCTA: a tool for genome-wide complex trait analysis.
#' American Journal of Human Genetics 88:76.
#'
#' Henderson (1985) Best linear unbiased prediction of nonadditive genetic merits in noninbred
#' populations. Journal of Animal Science 60:111.
#' @seealso [kernels], [kernel_dominance()], [kernel_groups()]
#' @name kernel_interaction
#' @examples
#' set.seed(1)
#' calls <- matrix(rbinom(80 * 100, 2, 0.4), 80, dimnames = list(paste0("s", 1:80), NULL))
#' g <- open_genotypes(calls)
#' data <- data.frame(id = rownames(calls), warmth = as.numeric(scale(rnorm(80))))
#' data$y <- drop(scale(calls[, 1:20]) %*% rnorm(20, sd = 0.2)) * (1 + data$warmth) + rnorm(80)
#' kernels <- list(warmth = kernel_interaction(kernel_grm(g), ~ warmth))
#' fit_reml(y ~ warmth, data, g, kernels = kernels, threads = 1, verbose = FALSE)
#'
#' kernel_times(kernel_product(kernel_grm(g), kernel_grm(g)), 1:80)[1:4]
NULL

#' @rdname kernel_interaction
#' @export
kernel_interaction <- function(k, environment) {
  check_args(k = check_kernel)
  new_kernel("interaction", k$ids, k$n, kernel = k, parts = k$parts,
             column = one_column(environment, "environment"))
}

#' @rdname kernel_interaction
#' @export
kernel_product <- function(k1, k2) {
  check_args(k1 = check_factor, k2 = check_factor)
  refuse_groups_in_product(k1, k2)
  named <- c(is.null(k1$ids), is.null(k2$ids))
  refuse_if(sum(named) == 1,
            "`k%d` has ids of samples, but `k%d` has none: give row names to both, or to neither.",
            which(!named), which(named))
  n <- stats::na.omit(c(k1$n, k2$n))
  refuse_if(any(named) && length(unique(n)) > 1, "`k1` has %s, but `k2` has %s.",
            count_of(k1$n, "sample"), format_count(k2$n))
  ids <- if (!any(named)) intersect(k1$ids, k2$ids)
  refuse_if(!any(named) && length(ids) == 0, "`k1` and `k2` have no common sample.")
  new_kernel("product", ids, if (any(named)) c(n, NA)[1] else length(ids), one = k1, other = k2)
}

# Rows of groups have no ids, which the other kernel may have.
refuse_groups_in_product <- function(k1, k2) {
  is_groups <- c(k1$kind, k2$kind) == "groups"
  refuse_if(
    sum(is_groups) == 1,
    paste("`k%1$d` is of groups of `data`: choose kernel_interaction(k%2$d, ~ %3$s), where %3$s is",
          "a factor."),
    which(is_groups), which(!is_groups), list(k1, k2)[[which(is_groups)[1]]]$column
  )
}

check_factor <- function(k, name) {
  check_kernel(k, name)
  refuse_if(!is.null(k$parts), "`%s` has the components %s, but a product takes kernels of one.",
            name, enumerate(quoted(k$parts)))
  k
}
