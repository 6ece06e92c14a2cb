# Further fits: with other arguments, or to other spectra.

#' @rdname demography_fit
#' @importFrom stats update
#' @export
update.demography_fit <- function(object, ...) {
  changed <- list(...)
  known <- names(formals(fit_demography))
  wrong <- if (length(changed)) setdiff(names(changed) %||% "", known)
  refuse_if(length(wrong), "%s is no argument of fit_demography().",
            if (nzchar(wrong[1])) sprintf("`%s`", wrong[1]) else "A value without a name")
  arguments <- object$arguments
  arguments[names(changed)] <- changed
  # The estimates and fixed values that the new model also has
  there <- c(
    params_of_spectra(arguments$model, arguments$sampling),
    own_params(arguments$model, arguments$misidentified, arguments$ld)
  )
  start <- object$params[intersect(names(object$params), there)]
  start[names(changed$start)] <- unlist(changed$start)
  arguments$start <- start
  do.call(fit_demography, arguments)
}

#' @rdname demography_fit
#' @export
simulate.demography_fit <- function(object, nsim = 1, seed = NULL,
                                    draws = c("poisson", "multinomial"), ...) {
  check_method(object = check_has_spectrum)
  expected <- object$expected
  attr(expected, "mask") <- attr(expected, "mask") | attr(object$data, "mask")
  simulate(expected, nsim, seed, draws)
}

#' Refit a model to other spectra
#'
#' Fits the model of a fit to each of several spectra: `refit_demography(fit, simulate(fit, 100))`
#' is a parametric bootstrap. Spectra of windows drawn with replacement, as in `attr(data,
#' "bootstrap")`, give a bootstrap that is valid for linked sites.
#'
#' @details
#' Each spectrum gets one search, from the estimates of `fit` and within its bounds.
#'
#' @param fit A `demography_fit`, as from [fit_demography()].
#' @param spectra A list of spectra of the data's size. They are folded and masked like the data.
#'   For a fit with `ld`: other observations, in the form of the `bootstraps` of
#'   [vcov.demography_fit()].
#' @param BPPARAM A `BiocParallelParam`, whose workers share the spectra, each on one thread unless
#'   the fit had `threads`. `NULL` (the default): this session fits them one by one.
#' @param progress Whether to show the number of finished fits. Default: only in interactive
#'   sessions.
#' @return A data frame with a row for each spectrum: `log_likelihood`, the fitted parameters, and
#'   `theta` if it was fitted.
#' @section Errors:
#' * `ancify_input_error`: `fit` is not a fit; or `spectra` has fewer than two spectra, or spectra
#'   of another size than the data.
#' * `ancify_package_error`: `BPPARAM` needs the package BiocParallel.
#' @seealso [vcov.demography_fit()] for standard errors without further fits,
#'   [`simulate()`][simulate.demography_fit]
#' @export
#' @examples
#' data <- sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI")
#' set.seed(1)
#' fit <- fit_demography(demography_model("two_epoch"), data, c(nu = 2, time = 0.1), starts = 3,
#'                       pts = c(20, 30))
#' refits <- refit_demography(fit, simulate(fit, 5))
#' apply(refits, 2, sd)
refit_demography <- function(fit, spectra, BPPARAM = NULL, progress = interactive()) {
  check_args(fit = check_demography_fit, progress = flag())
  if (!is.null(BPPARAM)) check_workers(BPPARAM, fit$surface$settings$backend)
  if (is.null(spectra)) spectra <- list()
  spectra <- check_bootstraps(spectra, fit, "spectra")
  space <- space_of_fit(fit)
  rows <- over_parts(spectra, with_ancify(function(data) {
    surface <- surface_of_data(fit$surface, data)
    found <- one_search(surface, space, space$start)
    theta <- if (!is.na(fit$theta)) c(theta = best_expected(surface, found$params)$theta)
    c(log_likelihood = found$log_likelihood, found$params, theta)
  }), BPPARAM, "Fits", progress)
  as.data.frame(do.call(rbind, rows))
}

check_demography_fit <- of_class("demography_fit", "a fit from fit_demography()")

# The space of further searches, over some of the fitted parameters, from the estimates.
space_of_fit <- function(fit, names = fit$fitted) {
  bound <- function(side) stats::setNames(fit$bounds[names, side], names)
  with_scale(list(start = coef(fit)[names], lower = bound("lower"), upper = bound("upper")))
}
