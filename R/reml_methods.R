#' Methods for REML fits
#'
#' Summarise, test, simulate and update a fit of [fit_reml()]: `summary(fit)`, `coef(fit)`,
#' `confint(fit)`.
#'
#' @details
#' | Function | Result |
#' | --- | --- |
#' | `summary()` | all results: components, h2, both errors, fixed effects, samples, search |
#' | `as.data.frame()` | the table of components |
#' | `coef()`, `vcov()` | fixed effects and their covariance; `which = "components"` for variances |
#' | `logLik()`, `nobs()` | restricted log-likelihood, for `AIC()` and `BIC()`; number of samples |
#' | `fitted()` | fixed effects plus genetic values of the fit's samples |
#' | `residuals()` | the response minus fixed effects, and minus genetic values by default |
#' | `simulate()` | responses drawn from the fitted model |
#' | `update()` | a fit with other arguments, such as `update(fit, . ~ . + age)` |
#' | nlme's `fixef()`, `ranef()`, `VarCorr()` | fixed effects, genetic values, variances |
#'
#' `confint()`, `anova()`, `plot()` and `predict()` have pages of their own.
#'
#' **Errors.** `se` is the standard error, from sampling. `mc_se` is the Monte Carlo error of the
#' random probes, 0 on the exact path. A variance at its bound has no errors. Errors of shares are
#' by the delta method.
#'
#' **Shares.** `share` is a component's share of the total variance. `enrichment` is its share of
#' the variants' variance, over its share of the variants. With overlap, a set's variance is the sum
#' over its variants of their variances from all components.
#'
#' **Likelihood ratio.** All genetic components are tested jointly. For one, p is half that of a
#' chi-squared variable, as a variance cannot be below 0. For several, p is an upper limit;
#' [`anova()`][anova.reml_fit] has an exact test for one, and a bootstrap for several.
#'
#' **Degrees of freedom.** `logLik()` counts variances and fixed effects, as lme4 does. Likelihoods
#' of fits with different fixed effects cannot be compared.
#'
#' @param object,x A fit, or its summary.
#' @param which `"fixed"` (the default) or `"components"`.
#' @param type Residuals that exclude (`"conditional"`, the default) or include (`"marginal"`)
#'   genetic values.
#' @param nsim Number of responses, 1 by default.
#' @param seed A number for [set.seed()]. `NULL` (the default): the session's random numbers are
#'   used.
#' @param ... Not used.
#' @return As in the table. `simulate()`: a data frame with a column for each response.
#' @section Errors:
#' * `ancify_file_error`: the fit's genotypes are needed, but missing or changed.
#' * `ancify_input_error`: an argument has a wrong type.
#' @references
#' Perlman (1969) One-sided testing problems in multivariate analysis. Annals of Mathematical
#' Statistics 40:549.
#'
#' Self and Liang (1987) Asymptotic properties of maximum likelihood estimators and likelihood
#' ratio tests under nonstandard conditions. Journal of the American Statistical Association
#' 82:605.
#' @seealso [fit_reml()], [heritability()], [reml_log_likelihood()]
#' @name reml_fit
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' fit <- fit_reml(y ~ 1, data, kernels = list(family = kernel), threads = 1, verbose = FALSE)
#' summary(fit)
#' coef(fit)
#' coef(fit, "components")
#' AIC(fit)
#' head(residuals(fit))
NULL

#' @rdname reml_fit
#' @export
coef.reml_fit <- function(object, which = c("fixed", "components"), ...) {
  check_no_more(...)
  if (check_which(which) == "fixed") object$coefficients else object$theta
}

#' @rdname reml_fit
#' @export
vcov.reml_fit <- function(object, which = c("fixed", "components"), ...) {
  check_no_more(...)
  if (check_which(which) == "fixed") {
    object$coefficients_covariance
  } else {
    theta_covariance(object)
  }
}

check_which <- function(which) check_choice(which, c("fixed", "components"), "which")

#' @rdname reml_fit
#' @export
logLik.reml_fit <- function(object, ...) {
  check_no_more(...)
  structure(
    object$log_likelihood, df = length(object$theta) + length(object$coefficients),
    nobs = length(object$y), class = "logLik"
  )
}

#' @rdname reml_fit
#' @export
#' @importFrom stats nobs
nobs.reml_fit <- function(object, ...) {
  check_no_more(...)
  length(object$y)
}

#' @rdname reml_fit
#' @export
#' @importFrom stats fitted
fitted.reml_fit <- function(object, ...) {
  check_no_more(...)
  stats::setNames(
    drop(object$x %*% object$coefficients) + rowSums(object$genetic), object$ids
  )
}

#' @rdname reml_fit
#' @export
residuals.reml_fit <- function(object, type = c("conditional", "marginal"), ...) {
  check_method(type = choice(c("conditional", "marginal")))
  genetic <- if (type == "conditional") rowSums(object$genetic) else 0
  stats::setNames(object$y - drop(object$x %*% object$coefficients) - genetic, object$ids)
}

# Names of nlme's generics
# nolint start: object_name_linter

#' @exportS3Method nlme::fixef
fixef.reml_fit <- function(object, ...) coef.reml_fit(object, "fixed", ...)

#' @exportS3Method nlme::ranef
ranef.reml_fit <- function(object, ...) {
  check_no_more(...)
  data.frame(object$genetic, row.names = make.unique(object$ids), check.names = FALSE)
}

#' @exportS3Method nlme::VarCorr
VarCorr.reml_fit <- function(x, ...) {
  check_no_more(...)
  cbind(Variance = x$theta, StdDev = sqrt(pmax(x$theta, 0)))
}

# nolint end

#' Compute heritability
#'
#' `heritability(fit)` gives the share of the variance that all genetic components explain, and each
#' component's share.
#'
#' @param fit A fit of [fit_reml()].
#' @return A data frame with the rows `h2` and one for each genetic component:
#'
#' | Column | Content |
#' | --- | --- |
#' | `variants` | number of polymorphic variants |
#' | `share`, `se`, `mc_se` | share of the total variance, with both errors |
#' | `enrichment`, `enrichment_se`, `enrichment_mc_se` | enrichment, with both errors |
#' | `h2`, `h2_se`, `h2_mc_se` | heritability in an ancestry, only with [kernel_admixture()] |
#'
#' [reml_fit] explains shares, enrichment, errors and overlap. Groups of samples ([kernel_groups()])
#' have their share, but are not in `h2`.
#'
#' For a fit of several traits: a row for each trait, with `trait`, `component` (`"h2"` for all),
#' `share`, `se` and `mc_se`; with several components, also a row for each of them.
#' @section Errors:
#' * `ancify_input_error`: `fit` is not a fit of [fit_reml()].
#' @seealso [fit_reml()], [reml_fit]
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' heritability(fit_reml(y ~ 1, data, kernels = list(family = kernel), threads = 1))
heritability <- function(fit) {
  check_given()
  if (inherits(fit, "reml_traits_fit")) {
    return(trait_heritability(fit))
  }
  check_args(fit = check_reml_fit)
  genetic <- c("h2", fit$names)
  shares <- variance_shares(fit)[genetic, ]
  enrichment <- rbind(h2 = NA, enrichments(fit))
  table <- data.frame(
    variants = c(if (has_variants(fit)) fit$n_variants else NA, fit$used_variants),
    share = shares$estimate, shares[c("se", "mc_se")], enrichment = enrichment$estimate,
    enrichment_se = enrichment$se, enrichment_mc_se = enrichment$mc_se, row.names = genetic
  )
  by_ancestry <- ancestry_heritability(fit)
  if (!is.null(by_ancestry)) table[names(by_ancestry)] <- rbind(NA, by_ancestry)
  table
}

check_reml_fit <- of_class("reml_fit", "a fit of fit_reml()")
