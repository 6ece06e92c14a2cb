#' Test correlations of traits
#'
#' `genetic_correlation(fit)` gives the correlations of a fit of several traits, by component, with
#' tests by likelihood ratio.
#'
#' @details
#' Each test fits the model again under a constraint. p of a correlation of 0 is that of a
#' chi-squared variable with one degree of freedom. A correlation of 1 is at the bound of its range,
#' so its p is half of that, and 1 where the ratio is 0. For a negative estimate this tests -1.
#'
#' @param fit A fit of [fit_reml()] of two or more traits.
#' @param tests Whether to test, by default only fits by the exact path, which tests need. Without
#'   tests the fit's genotypes are not read.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @return A data frame with a row for each component, the residual last, and pair of traits:
#' * `component`, `trait_1`, `trait_2`;
#' * `rg`: the correlation; `se`, `mc_se`: its standard error and Monte Carlo error, see
#'   [reml_traits];
#' * `lrt_0`, `p_0`: the likelihood ratio of a correlation of 0, and its p-value;
#' * `lrt_1`, `p_1`: those of a correlation of 1 or -1. `NA` for the residual.
#'
#' A trait without variance has no correlation, and no tests.
#' @section Errors:
#' * `ancify_input_error`: `fit` is not a fit of several traits, or has no exact path and `tests` is
#'   `TRUE`.
#' * `ancify_file_error`: the fit's genotypes are missing or were changed.
#' * `ancify_fit_warning`: a search under a constraint has not converged; its test is `NA`.
#' @inherit reml_traits references
#' @seealso [fit_reml()], [reml_traits]
#' @export
#' @examples
#' families <- rep(1:40, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' shared <- rnorm(40)[families]
#' data <- data.frame(id = 1:200, a = shared + rnorm(200), b = shared + rnorm(200))
#' fit <- fit_reml(cbind(a, b) ~ 1, data, kernels = list(family = kernel), threads = 1)
#' genetic_correlation(fit)
genetic_correlation <- function(fit, tests = fit$path == "exact", progress = interactive()) {
  check_args(fit = check_traits_fit, tests = flag())
  refuse_if(tests && fit$path != "exact",
            "A stochastic fit has no tests: fit it with the method 'exact', or use `se`.")
  all <- covariance_table(fit)
  all <- all[all$trait_1 != all$trait_2, ]
  table <- data.frame(
    all[c("component", "trait_1", "trait_2")], rg = all$correlation, se = all$correlation_se,
    mc_se = all$correlation_mc_se, row.names = NULL
  )
  if (!tests) {
    return(table)
  }
  table[c("lrt_0", "p_0", "lrt_1", "p_1")] <- NA_real_
  known <- which(!is.na(table$rg))
  bounded <- known[table$component[known] != "residual"]
  ratios <- correlation_ratios(fit, table[c(known, bounded), ], rep(
    c("uncorrelated", "proportional"), c(length(known), length(bounded))
  ), progress)
  table$lrt_0[known] <- ratios[seq_along(known)]
  table$lrt_1[bounded] <- ratios[length(known) + seq_along(bounded)]
  table$p_0 <- lrt_p_values(table$lrt_0, 0, 1)
  table$p_1 <- lrt_p_values(table$lrt_1, 1, 0)
  table
}

lrt_p_values <- function(statistics, bounded, free) {
  vapply(statistics, function(statistic) {
    if (is.na(statistic)) NA_real_ else lrt_p_value(statistic, bounded, free)
  }, 0)
}

# Likelihood ratios of constraints, a kind for each row of `pairs`.
correlation_ratios <- function(fit, pairs, kinds, progress) {
  if (length(kinds) == 0) {
    return(numeric())
  }
  fit <- with_genotypes(fit)
  work <- work_of(fit, progress)
  check_traits_memory(fit, work)
  traits <- colnames(fit$y)
  constraints <- Map(function(kind, component, row, column) {
    core_list(
      "TraitConstraint",
      kind = kind, component = component - 1L, row = row - 1L, column = column - 1L
    )
  }, kinds, match(pairs$component, names(fit$covariances)), match(pairs$trait_2, traits),
  match(pairs$trait_1, traits))
  found <- with_watch("Testing", function(watch) {
    reml_traits_constrained_impl(
      traits_problem(fit, work), with_nan(fit$y), unname(fit$theta), unname(constraints), watch
    )
  }, work$progress, inputs = fit_inputs(fit))
  failed <- sum(is.na(found))
  if (failed) {
    warn_ancify(sprintf("%s not converged, and %s NA: raise `max_iterations` of the fit.",
                        count_with_verb(failed, "test", "has", "have"),
                        if (failed == 1) "is" else "are"), "fit")
  }
  vapply(found, function(one) {
    if (is.na(one)) NA_real_ else ratio_of(fit$log_likelihood, one)
  }, 0)
}
