#' Kernels of groups of samples
#'
#' `kernel_groups(~ household)` gives each household a random effect. `kernel_groups(~ id)` gives
#' one to each sample that has several rows of `data`: repeated records.
#'
#' @details
#' The kernel is 1 for two rows of a group, and else 0. Its products take the sums of groups, so no
#' matrix is held.
#'
#' **Repeated records.** With a kernel of the column of ids, `data` of [fit_reml()] may have several
#' rows for a sample. All rows of a sample have its genotypes: kernels K of samples become Z K Z',
#' where a row of Z has a 1 at its sample. The variance of `kernel_groups(~ id)` is that of lasting
#' differences between samples, beyond the other kernels. The residual variance is that within
#' samples. [predict.reml_fit()] and [variant_effects()] work as
#' before. [scan_variants()], [pcgc()] and fits of several traits need one row for each sample.
#' Messages count records and samples, and samples that are not in `data` apart from rows without
#' phenotype.
#'
#' **Heritability.** Groups are not genetic. Their variance is in the total, but not in `h2` of
#' [heritability()]. The share of `kernel_groups(~ id)` plus `h2` is the repeatability. Predictions
#' of new samples have no effects of groups.
#'
#' @param groups A formula of a column of the fit's `data`, such as `~ household`, whose distinct
#'   values are groups. Rows without a value (`NA` or `NaN`) are dropped and counted.
#' @return A list of class `reml_kernel`.
#' @section Errors:
#' * `ancify_input_error`: `groups` is not a formula of one name.
#' * `ancify_input_error`, in a fit: `data` lacks the column, it is a matrix or list, or a value is
#'   infinite. Or all groups have one row, so that the kernel is that of the residual.
#' @references
#' Henderson (1975) Best linear unbiased estimation and prediction under a selection model.
#' Biometrics 31:423.
#'
#' Bates, Maechler, Bolker and Walker (2015) Fitting linear mixed-effects models using lme4. Journal
#' of Statistical Software 67:1.
#' @seealso [kernels], [fit_reml()], [kernel_interaction()]
#' @export
#' @examples
#' set.seed(1)
#' calls <- matrix(rbinom(60 * 100, 2, 0.4), 60, dimnames = list(paste0("s", 1:60), NULL))
#' g <- open_genotypes(calls)
#' # Three records of each sample
#' data <- data.frame(id = rep(rownames(calls), each = 3), year = 1:3)
#' data$y <- rep(scale(calls[, 1:20]) %*% rnorm(20, sd = 0.2) + rnorm(60), each = 3) + rnorm(180)
#' fit <- fit_reml(y ~ year, data, g, kernels = list(lasting = kernel_groups(~ id)), threads = 1)
#' heritability(fit)
kernel_groups <- function(groups) {
  check_given()
  new_kernel("groups", NULL, NA, column = one_column(groups, "groups"))
}

# ---- For fits ------------------------------------------------------------------------------------

core_groups <- function(kernel, rows, n, name) {
  refuse_without_values(kernel)
  groups <- match(kernel$values, unique(kernel$values))
  refuse_if(!anyDuplicated(groups),
            "Each value of %s is in one row only, so the kernel %s is that of the residual: %s.",
            quoted(kernel$column), quoted(name), "leave it out")
  list(kind = "groups", groups = groups)
}

# kernel_times() has no `data`.
refuse_without_values <- function(kernel) {
  refuse_if(is.null(kernel$values),
            "The kernel is made of the column %s of a fit's `data`: give it to fit_reml().",
            quoted(kernel$column))
}

groups_fields <- function(kernel) {
  core_list("GroupsKernel", groups = kernel$groups - 1L)
}
