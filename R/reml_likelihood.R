#' Compute a restricted log-likelihood
#'
#' Computes the restricted log-likelihood of a fit's data at any variances, with its gradient:
#' `reml_log_likelihood(fit, c(0.5, 0.5))`.
#'
#' The covariance of the response is \eqn{H = \sum_g \theta_g K_g + \theta_e I}. P is
#' \eqn{H^{-1} - H^{-1} X (X'H^{-1}X)^{-1} X'H^{-1}}. The log-likelihood is
#' \eqn{-\frac12 ((n-p) \log 2\pi + \log|H| + \log|X'H^{-1}X| - \log|X'X| + y'Py)}. It does not
#' depend on the basis of the fixed effects.
#'
#' @param fit A fit of [fit_reml()]. The likelihood is exact, whatever path the fit took.
#' @param theta Variances: a number for each component, the residual last, or named by component.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @return A list:
#' * `log_likelihood`: the value.
#' * `score`: its gradient, one derivative for each variance.
#' * `information`: the average or expected information, as in the fit's `control`.
#' * `traces`: tr(P K_g) for each component, and tr(P) for the residual.
#' * `quadratic`: y'P y.
#' @section Errors:
#' * `ancify_input_error`: `theta` does not match the components, the covariance is not positive
#'   definite, or its matrix needs more memory than the fit may use.
#' * `ancify_file_error`: the fit's genotypes are missing or were changed.
#' @seealso [fit_reml()], [confint.reml_fit()] for profiles
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' fit <- fit_reml(y ~ 1, data, kernels = list(family = kernel), threads = 1)
#' reml_log_likelihood(fit, c(family = 0.5, residual = 1))
reml_log_likelihood <- function(fit, theta, progress = interactive()) {
  check_args(fit = check_reml_fit, theta = check_numbers)
  theta <- by_component(theta, names(fit$theta), "theta")
  work <- work_of(fit, progress)
  choose_path("exact", length(fit$y), dense_components(fit), work$memory)
  likelihoods_at(fit, cbind(theta), work)[[1]]
}

# Log-likelihoods at several variances, the columns of `thetas`.
likelihoods_at <- function(fit, thetas, work) {
  fit <- with_genotypes(fit)
  problem <- core_problem(fit, path_settings(fit, "exact", work))
  found <- with_watch("Computing", function(watch) {
    reml_likelihood_impl(problem, unname(thetas), watch)
  }, work$progress, inputs = fit_inputs(fit))
  components <- names(fit$theta)
  lapply(found, function(one) {
    one[c("score", "traces")] <- lapply(one[c("score", "traces")], stats::setNames, components)
    dimnames(one$information) <- list(components, components)
    one
  })
}
