#' Compare nested fits
#'
#' Tests genetic components by likelihood ratio: `anova(fit, null)`. `anova(fit)` tests all genetic
#' components of a fit jointly.
#'
#' @details
#' **Nested.** `null` has the samples, response and fixed effects of `fit`. Each of its components
#' is a component of `fit` or the union of several. One component of all variants, for example, is
#' nested in components by chromosome.
#'
#' **Tests.** A variance cannot be below 0, so the ratio is often exactly 0. An additional component
#' has such a bound. Components that `null` joins into one have no bound.
#'
#' | `test` | p-value |
#' | --- | --- |
#' | `"mixture"` | from a mixture of chi-squared distributions, as below |
#' | `"exact"` | for one kernel: from the exact null distribution, drawn by its eigenvalues |
#' | `"bootstrap"` | from both fits to responses drawn from `null` |
#'
#' With k additional variances, of which one has a bound, `"mixture"` is 1/2 P(chi2_(k-1) > LRT) +
#' 1/2 P(chi2_k > LRT). With several bounds this is an upper limit, and without a bound it is
#' P(chi2_k > LRT). For one component and a ratio of 0, it is 1. The other p-values are (1 + number
#' of draws that reach the ratio) / (1 + number of draws).
#'
#' @param object A fit of [fit_reml()].
#' @param null A fit nested in `object`. `NULL` (the default): without genetic components.
#' @param test `"mixture"` (the default), `"exact"` or `"bootstrap"`.
#' @param nsim Number of draws. `NULL` (the default): 10,000 for `"exact"`, 100 for `"bootstrap"`.
#' @param seed Seed of the draws, 1 by default.
#' @param BPPARAM A `BiocParallelParam`. Its workers refit to the responses of a bootstrap, each on
#'   one thread, with the same result. They read the genotypes' files. `NULL` (the default): none.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @param ... Not used.
#' @return A data frame of class `anova` with a row for each fit. It has `npar` (number of variances
#'   and fixed effects), `logLik`, `LRT` with its Monte Carlo error `mc_se`, `Df` and `Pr(>LRT)`.
#' @section Errors:
#' * `ancify_input_error`: the fits are not nested, or `test` is `"exact"` but the fit has several
#'   kernels, has no bound at 0, or took the stochastic path.
#' * `ancify_file_error`: the fit's genotypes are missing or were changed.
#' * `ancify_package_error`: `BPPARAM` needs the package BiocParallel. `ancify_task_error`: a worker
#'   has failed.
#' @references
#' Crainiceanu and Ruppert (2004) Likelihood ratio tests in linear mixed models with one variance
#' component. Journal of the Royal Statistical Society B 66:165.
#' @inherit reml_fit references
#' @seealso [fit_reml()]
#' @importFrom stats anova
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' fit <- fit_reml(y ~ 1, data, kernels = list(family = kernel), threads = 1)
#' anova(fit)
#' anova(fit, test = "exact")
anova.reml_fit <- function(object, null = NULL, test = c("mixture", "exact", "bootstrap"),
                           nsim = NULL, seed = 1, BPPARAM = NULL, progress = interactive(), ...) {
  check_method(test = choice(c("mixture", "exact", "bootstrap")))
  if (!is.null(BPPARAM)) check_workers(BPPARAM, "cpu")
  more <- if (is.null(null)) bounds_of(object, object$names) else more_components(object, null)
  nsim <- check_whole_number(nsim %||% if (test == "exact") 10000 else 100, "nsim")
  statistic <- likelihood_ratio(object, null)
  p_value <- switch(
    test,
    mixture = lrt_p_value(statistic, more[["bounded"]], more[["free"]]),
    exact = drawn_p_value(statistic, exact_draws(object, null, nsim, seed)),
    bootstrap = drawn_p_value(
      statistic, bootstrap_draws(object, null, nsim, seed, BPPARAM, progress)
    )
  )
  npar <- length(object$theta) + length(object$coefficients)
  mc <- sqrt(sum(c(object$mc_log_likelihood, null$mc_log_likelihood)^2))
  structure(
    data.frame(
      npar = c(npar - sum(more), npar),
      logLik = c(null_log_likelihood(object, null), object$log_likelihood),
      LRT = c(NA, statistic), mc_se = c(NA, 2 * mc), Df = c(NA, sum(more)),
      `Pr(>LRT)` = c(NA, p_value), row.names = c("null", "fit"), check.names = FALSE
    ),
    heading = c(
      sprintf("Likelihood ratio of variance components (%s)\n", test_title(test, more, nsim)),
      sprintf("null: %s\nfit: %s", enumerate(names(null$theta) %||% residual_names(object)),
              enumerate(names(object$theta)))
    ),
    class = c("anova", "data.frame")
  )
}

test_title <- function(test, more, nsim) {
  switch(
    test,
    mixture = paste0("mixture of chi-squared", if (more[["bounded"]] > 1) ", p at most"),
    exact = sprintf("exact null, %s", count_of(nsim, "draw")),
    bootstrap = sprintf("parametric bootstrap, %s", count_of(nsim, "draw"))
  )
}

null_log_likelihood <- function(fit, null) null$log_likelihood %||% fit$log_likelihood_null

likelihood_ratio <- function(fit, null) {
  ratio_of(fit$log_likelihood, null_log_likelihood(fit, null))
}

drawn_p_value <- function(statistic, draws) {
  # Ratios that differ only by rounding count as equal.
  (1 + sum(draws >= statistic - 1e-8 * max(statistic, 1))) / (1 + length(draws))
}

# ---- Nested fits ---------------------------------------------------------------------------------

# Numbers of additional variances of `fit`: with a bound (components that are not in `null`), and
# without (components that `null` joins).
more_components <- function(fit, null) {
  check_reml_fit(null, "null")
  same <- identical(fit$ids, null$ids) && isTRUE(all.equal(fit$y, null$y, tolerance = 0)) &&
    identical(dim(fit$x), dim(null$x)) && qr(cbind(fit$x, null$x))$rank == ncol(fit$x)
  if (!same) refuse_nested("their samples, responses or fixed effects differ")
  if (!identical(dividing_kernel(fit)$shares, dividing_kernel(null)$shares)) {
    refuse_nested("their residuals differ")
  }
  parent <- parents_of(fit, null)
  childless <- setdiff(seq_along(null$names), parent)
  if (length(childless)) {
    refuse_nested(sprintf("`null` has the component %s, which is no union of those of the fit",
                          quoted(null$names[childless[1]])))
  }
  bounds <- bounds_of(fit, fit$names[is.na(parent)])
  merged <- sum(!is.na(parent)) - length(null$names)
  if (sum(bounds) + merged == 0) refuse_nested("they have the same components")
  c(bounded = bounds[["bounded"]], free = bounds[["free"]] + merged)
}

refuse_nested <- function(why) {
  abort_ancify(sprintf("The fits are not nested: %s.", why), "input")
}

# For each genetic component of `fit`, the index of the component of `null` that equals it, or
# contains it in a union; NA for none.
parents_of <- function(fit, null) {
  sets <- weights_by_component(fit)
  unions <- if (has_same_variants(fit, null)) weights_by_component(null) else list()
  parent <- rep(NA_integer_, length(sets))
  for (p in seq_along(unions)) {
    parts <- which(vapply(sets, is_part, NA, unions[[p]]))
    variants <- unlist(lapply(sets[parts], `[[`, "variant"))
    is_whole <- setequal(variants, unions[[p]]$variant) && !anyDuplicated(variants)
    if (is_whole) parent[parts] <- p
  }
  same <- function(name) {
    identical(kernel_numbers(fit$kernels[[name]]), kernel_numbers(null$kernels[[name]]))
  }
  components <- kernel_components(fit)
  in_null <- kernel_components(null)
  others <- lapply(names(components), function(name) {
    if (same(name)) in_null[[name]] else rep(NA_integer_, length(components[[name]]))
  })
  c(parent, unlist(others))
}

has_same_variants <- function(fit, null) {
  identical(contents_of(fit$files), contents_of(null$files)) &&
    fit$scale_power == null$scale_power
}

# The data that identify a kernel. A kernel of products is identified by its trace.
kernel_numbers <- function(kernel) {
  change_parts(kernel, function(part) {
    part$products <- NULL
    part$genotypes <- unclass(part$genotypes)[c("sample_index", "variant_index")]
    part$files <- contents_of(part$files)
    part
  })
}

# For each component of genotypes, the variants' indices in the file and their weights.
weights_by_component <- function(fit) {
  if (fit$n_genetic == 0) {
    return(list())
  }
  table <- fit$weights
  table$variant <- fit$genotypes$variant_index[table$variant]
  split(table[c("variant", "weight")], factor(table$component, seq_len(fit$n_genetic)))
}

# Whether the variants of `set` are in `whole`, with weights equal up to a factor.
is_part <- function(set, whole) {
  at <- match(set$variant, whole$variant)
  ratio <- set$weight / whole$weight[at]
  !anyNA(at) && all(abs(ratio - ratio[1]) <= 1e-12 * ratio[1])
}

# ---- Draws under the null ------------------------------------------------------------------------

exact_draws <- function(fit, null, nsim, seed) {
  unbounded <- bounds_of(fit, fit$names)[["free"]] > 0
  refuse_if(
    !is.null(null) || length(fit$names) > 1 || is.null(fit$kernel_form) || unbounded,
    paste("The exact test needs an exact fit of one kernel with a bound at 0, and none in `null`:",
          "choose `test = \"bootstrap\"`.")
  )
  with_watch("Drawing", function(watch) {
    reml_null_lrt_impl(
      fit$kernel_form, nsim, at_least(0)(seed, "seed"), new_work(fit$threads), watch
    )
  })
}

bootstrap_draws <- function(fit, null, nsim, seed, param, progress) {
  seed <- at_least(0)(seed, "seed")
  if (is.null(null)) check_one_residual(fit, "A bootstrap without `null`")
  responses <- simulate(null %||% without_components(fit), nsim, seed)
  fit <- with_genotypes(fit)
  if (!is.null(null)) null <- with_genotypes(null)
  work <- work_of(if (is.null(param)) fit else for_worker(fit))
  draws <- over_parts(as.list(responses), function(response) {
    refit <- function(model) {
      model$y <- response
      run_reml(model, work)
    }
    likelihood_ratio(refit(fit), if (!is.null(null)) refit(null))
  }, param, "Bootstrap", progress)
  unlist(draws, use.names = FALSE)
}

# The model without genetic components, in the form that simulate() needs.
without_components <- function(fit) {
  ordinary <- stats::lm.fit(fit$x, fit$y)
  residual <- sum(ordinary$residuals^2) / ordinary$df.residual
  structure(
    list(
      y = fit$y, x = fit$x, ids = fit$ids, theta = c(residual = residual), n_genetic = 0,
      coefficients = ordinary$coefficients, kernels = list()
    ),
    class = "reml_fit"
  )
}
