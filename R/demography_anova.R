#' Test parameters of a demographic model
#'
#' Compares two nested fits: `anova(fit, null, bootstraps)`. The null hypothesis holds some
#' parameters `fixed` that are fitted in `fit`.
#'
#' @details
#' | `test` | Statistic |
#' | --- | --- |
#' | `"LR"` | twice the difference of log-likelihoods |
#' | `"Wald"` | squared distance of the estimates from the null's values, in standard errors |
#' | `"score"` | squared gradient of the likelihood at the null's estimates, in standard errors |
#'
#' Under the null hypothesis, all have chi-squared distributions with one degree of freedom for each
#' parameter fixed in `null` only. Without `bootstraps` sites count as independent. With them, the
#' Godambe information adjusts statistics for linkage. The likelihood ratio statistic is multiplied
#' by `adjustment` (Coffman and others 2016).
#'
#' A parameter may be fixed at or beyond its bound in `fit`, such as a migration rate at 0. Its test
#' is then one-sided. With one such parameter of k, the p-value is 1/2 P(chi2_(k-1) > x) + 1/2
#' P(chi2_k > x). With several, this is an upper bound.
#'
#' @param object A `demography_fit`, as from [fit_demography()].
#' @param null A fit of the same model to the same data, with fewer fitted and more `fixed`
#'   parameters. [`update()`][update.demography_fit] makes it: `update(fit, fixed = c(m = 0))`.
#' @param bootstraps As in [vcov.demography_fit()]; `NULL` (the default): independent sites.
#' @param test `"LR"` (the default), `"Wald"` or `"score"`.
#' @param ... Not used.
#' @return A data frame of class `anova` with a row for each fit: `npar` (fitted parameters),
#'   `logLik`, the statistic, `Df` and `Pr(>Chi)`; for `"LR"` with `bootstraps` also `adjustment`.
#' @section Errors:
#' `ancify_input_error`:
#' * The fits are not nested, or `bootstraps` has fewer than two spectra of the data's size.
#' * The likelihood has no maximum at the estimates.
#' * A Wald test: a parameter of `object` is at a bound.
#' * A score test of several parameters: `null` fixes one of them at its bound.
#' @references
#' Coffman, Hsieh, Gravel and Gutenkunst (2016) Computationally efficient composite likelihood
#' statistics for demographic inference. Molecular Biology and Evolution 33:591.
#'
#' Varin, Reid and Firth (2011) An overview of composite likelihood methods. Statistica Sinica 21:5.
#'
#' Self and Liang (1987) Asymptotic properties of maximum likelihood estimators and likelihood ratio
#' tests under nonstandard conditions. Journal of the American Statistical Association 82:605.
#' @seealso [fit_demography()], [vcov.demography_fit()]; `AIC(fit, other)` for models that are not
#'   nested
#' @export
#' @examples
#' data <- sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI")
#' set.seed(1)
#' fit <- fit_demography(demography_model("two_epoch"), data, c(nu = 2, time = 0.1), starts = 3,
#'                       pts = c(20, 30))
#' null <- update(fit, fixed = c(time = 0.3))
#' anova(fit, null)
#' anova(fit, null, bootstraps = simulate(data, 20, seed = 1))
#' anova(fit, null, test = "score")
anova.demography_fit <- function(object, null, bootstraps = NULL, test = c("LR", "Wald", "score"),
                                 ...) {
  check_no_more(...)
  check_args(test = choice(c("LR", "Wald", "score")))
  tested <- check_nested(object, null)
  bounded <- sum(is_one_sided(object, null$params[tested]))
  found <- switch(
    test, LR = ratio_statistic, Wald = wald_statistic, score = score_statistic
  )(object, null, bootstraps, tested, bounded)
  table <- data.frame(
    npar = vapply(list(null, object), function(fit) attr(stats::logLik(fit), "df"), 0),
    logLik = c(null$log_likelihood, object$log_likelihood), statistic = c(NA, found[["statistic"]]),
    Df = c(NA, length(tested)),
    `Pr(>Chi)` = c(
      NA, lrt_p_value(found[["statistic"]], bounded, length(tested) - bounded)
    ),
    row.names = c("null", "fit"), check.names = FALSE
  )
  names(table)[3] <- test
  if ("adjustment" %in% names(found)) {
    # The p-value stays last, where print() formats it.
    table <- cbind(table[1:3], adjustment = c(NA, found[["adjustment"]]), table[4:5])
  }
  structure(
    table,
    heading = c(
      sprintf("%s test of %s%s\n",
              c(LR = "Likelihood ratio", Wald = "Wald", score = "Score")[[test]],
              if (is.null(bootstraps)) "independent sites" else "linked sites",
              c("", ", mixture of chi-squared", ", mixture of chi-squared, p at most")[
                1 + min(bounded, 2)
              ]),
      sprintf("null: %s", enumerate(paste(tested, format_each(null$params[tested]), sep = " = ")))
    ),
    class = c("anova", "data.frame")
  )
}

format_each <- function(values) vapply(values, format, "", digits = 4)

# True if a parameter with this value can move in one direction only.
is_one_sided <- function(fit, values) {
  bounds <- fit$bounds[names(values), ]
  values <= bounds$lower | values >= bounds$upper
}

ratio_statistic <- function(fit, null, bootstraps, tested, bounded) {
  ratio <- max(0, 2 * (fit$log_likelihood - null$log_likelihood))
  if (is.null(bootstraps)) {
    return(c(statistic = ratio))
  }
  slopes <- slopes_at_null(fit, null, bootstraps)
  inverse <- inverse_information(slopes$information[tested, tested, drop = FALSE], no_maximum)
  variability <- slopes$variability[tested, tested, drop = FALSE]
  adjustment <- length(tested) / sum(diag(variability %*% inverse))
  c(statistic = ratio * adjustment, adjustment = adjustment)
}

wald_statistic <- function(fit, null, bootstraps, tested, bounded) {
  covariance <- vcov(fit, bootstraps)[tested, tested, drop = FALSE]
  c(statistic = squared(coef(fit)[tested] - null$params[tested], covariance))
}

# U' A (A G A)^-1 A U, with U the gradient of the tested parameters, A their block of the inverse
# information, and A G A their block of the inverse Godambe information. Other gradients are 0.
score_statistic <- function(fit, null, bootstraps, tested, bounded) {
  slopes <- slopes_at_null(fit, null, bootstraps)
  inverse <- inverse_information(slopes$information, no_maximum)[tested, tested, drop = FALSE]
  covariance <- sandwich(slopes, is.null(bootstraps))[tested, tested, drop = FALSE]
  step <- drop(inverse %*% slopes$slope[tested])
  refuse_if(
    bounded && length(tested) > 1,
    paste("A score test of several parameters cannot include one that `null` fixes at its bound:",
          "choose `test = \"LR\"`.")
  )
  # A likelihood that rises only beyond the bound is no evidence against the null hypothesis.
  past <- bounded && (null$params[tested] <= fit$bounds[tested, "lower"]) != (step > 0)
  c(statistic = if (past) 0 else squared(step, covariance))
}

no_maximum <- paste(
  "The likelihood does not curve down at the null's estimates, so the statistic is unknown:",
  "choose `test = \"LR\"` without `bootstraps`."
)

slopes_at_null <- function(fit, null, bootstraps) {
  likelihood_slopes(fit, null$params[fit$fitted], bootstraps, null$theta)
}

squared <- function(x, covariance) sum(x * solve(covariance, x))

check_nested <- function(full, null) {
  are_fits <- inherits(full, "demography_fit") && inherits(null, "demography_fit")
  refuse_if(are_fits && length(full$fitted) < length(null$fitted),
            "`null` has more fitted parameters than `fit`: exchange the two fits.")
  tested <- if (are_fits) setdiff(full$fitted, null$fitted)
  refuse_if(
    !length(tested) || !all(null$fitted %in% full$fitted) || !is_same_problem(full, null),
    "`null` must be a fit of the same model to the same data as `fit`, with the same settings and more `fixed` parameters." # nolint: line_length_linter.
  )
  tested
}

# True if both fits have the same model, data and settings. Users' functions cannot be compared, so
# the models' spectra are compared at the parameters of the null fit.
is_same_problem <- function(full, null) {
  fixed <- setdiff(names(full$params), full$fitted)
  settings <- lapply(list(full, null), function(fit) {
    fit$surface$settings[setdiff(
      names(fit$surface$settings), c("backend", "threads", "sampling")
    )]
  })
  identical(full[c("data", "ld")], null[c("data", "ld")]) &&
    setequal(names(full$params), names(null$params)) &&
    identical(full$params[fixed], null$params[fixed]) && identical(settings[[1]], settings[[2]]) &&
    is_same_expected(or_null(best_expected(full$surface, null$params)), null)
}

# True if spectra are equal up to differences between machines, or between CPU and GPU.
is_same_expected <- function(x, y) {
  values <- function(one) {
    c(if (!is.null(one$expected)) plain_array(one$expected), one$expected_ld$values)
  }
  !is.null(x) && isTRUE(all.equal(values(x), values(y), tolerance = 1e-6))
}
