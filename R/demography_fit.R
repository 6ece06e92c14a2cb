#' Inspect a fitted demographic model
#'
#' Methods for the result of [fit_demography()]: estimates, likelihood, expected spectrum,
#' residuals, simulated data, further fits and a plot.
#'
#' @param x,object A `demography_fit`, as from [fit_demography()].
#' @param sample_sizes Haplotypes of each population, whole numbers. `NULL` (the default): the
#'   data's sample sizes.
#' @param type `"anscombe"` (the default) or `"linear"`, as in [sfs_residuals()].
#' @param nsim Number of spectra, 1 by default.
#' @param seed A number for [set.seed()]. `NULL` (the default): the session's random numbers.
#' @param draws `"poisson"` (the default) or `"multinomial"`, as in [simulate.sfs()].
#' @param main A title. `NULL` (the default): none.
#' @param ... For `update()`: arguments of [fit_demography()] that change. Otherwise not used.
#' @return
#' * `coef()`: the fitted parameters.
#' * `logLik()`: the log-likelihood. Its degrees of freedom count the fitted parameters, and theta
#'   if it was fitted. `AIC(fit, other)` and `BIC()` compare fits in tables.
#' * `predict()`: the expected spectrum, scaled by theta. For a fit without a spectrum: the expected
#'   two-locus statistics. `plot(fit$ld, model = fit$expected_ld)` compares these with the data.
#' * `simulate()`: a list of spectra drawn from the expected one, masked like the data.
#' * `update()`: a new fit, in which the given arguments replace earlier ones. It begins at the
#'   estimates; `start` replaces some of them.
#' * `residuals()`: an array of the spectrum's shape, as from [sfs_residuals()].
#' * `summary()`, `print()`: the estimates; `summary()` also has settings and all searches.
#' * `plot()`: `x`, invisibly. It draws data, model and residuals, by pairs of up to three
#'   populations.
#' @section Errors:
#' * `ancify_input_error`: `sample_sizes` are invalid; a plot has more than three populations; a
#'   method needs a spectrum, but the fit is to two-locus statistics alone; or `update()` has an
#'   argument that [fit_demography()] lacks, or a start outside its bounds.
#' @seealso [fit_demography()], [vcov.demography_fit()] for standard errors,
#'   [refit_demography()] for the bootstrap
#' @name demography_fit
#' @examples
#' data <- sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI")
#' set.seed(1)
#' fit <- fit_demography(demography_model("two_epoch"), data, c(nu = 2, time = 0.1), starts = 3,
#'                       pts = c(20, 30))
#' summary(fit)
#' coef(fit)
#' predict(fit, 4)
#' simulate(fit, 2, seed = 1)
#' update(fit, fixed = c(time = 0.2))
#' residuals(fit)
#' plot(fit)
NULL

#' @export
print.demography_fit <- function(x, ...) {
  write_demography_fit(x)
  invisible(x)
}

# `more`: fields that only summary() shows.
write_demography_fit <- function(fit, more = NULL) {
  facts <- c(
    if (!is.null(fit$data)) paste(format_count(round(sum(fit$data, na.rm = TRUE))), "sites"),
    # `expected` is folded too.
    if (!is.null(fit$data) && attr(fit$data, "folded")) "folded",
    if (!is.null(fit$ld)) paste("LD in", count_of(nrow(fit$ld$values), "bin")),
    sprintf("log-likelihood %.2f", fit$log_likelihood), sprintf("AIC %.2f", stats::AIC(fit)),
    if (fit$converged) "converged" else "not converged"
  )
  write_object("demography_fit", facts, c(
    vapply(fit$params, format, "", digits = 4),
    theta = if (!is.na(fit$theta)) format(fit$theta, digits = 4), more
  ))
}

#' @rdname demography_fit
#' @export
summary.demography_fit <- function(object, ...) {
  structure(list(fit = object), class = "summary.demography_fit")
}

#' @export
print.summary.demography_fit <- function(x, digits = 4, ...) {
  fit <- x$fit
  settings <- fit$surface$settings
  write_demography_fit(fit, c(
    fixed = paste(enumerate(setdiff(names(fit$params), fit$fitted)), collapse = ""),
    `at a bound` = paste(enumerate(fit$at_bounds), collapse = ""),
    grids = if (length(settings$pts)) {
      sprintf("%s points, time steps \"%s\"", enumerate(settings$pts), settings$time)
    } else if (length(settings$time)) {
      sprintf("none for neutral models, %s points for others",
              enumerate(default_pts(sizes_of_sfs(fit$data))))
    }
  ))
  cat("Searches:\n")
  print(fit$searches, digits = digits, row.names = FALSE)
  invisible(x)
}

#' @rdname demography_fit
#' @export
coef.demography_fit <- function(object, ...) object$params[object$fitted]

#' @rdname demography_fit
#' @export
logLik.demography_fit <- function(object, ...) {
  cells <- if (!is.null(object$data)) cells_of_both(object$expected, object$data)$which
  two_loci <- if (!is.null(object$ld)) number_compared(object$ld) else 0
  structure(
    object$log_likelihood, df = length(object$fitted) + !is.na(object$theta),
    nobs = length(cells) + two_loci, class = "logLik"
  )
}

#' @rdname demography_fit
#' @importFrom stats predict residuals vcov
#' @export
predict.demography_fit <- function(object, sample_sizes = NULL, ...) {
  check_no_more(...)
  if (is.null(sample_sizes)) {
    return(object$expected %||% object$expected_ld)
  }
  check_args(object = check_has_spectrum)
  refuse_if(
    inherits(object$model, "dfe_model"),
    "A dfe_model() has spectra of the data's `sample_sizes` only. For others, compute selected_spectra() of these sizes, then dfe_sfs()." # nolint: line_length_linter.
  )
  settings <- object$surface$settings
  sizes <- check_sample_sizes(sample_sizes, length(dim(object$data)))
  settled <- settle_spectrum(
    object$model, object$params[params_of_spectra(object$model, settings$sampling)], sizes,
    settings$sampling
  )
  small <- any(settings$pts <= max(sizes))
  spectrum <- spectrum_of_settled(
    settled, if (small) default_pts(sizes) else settings$pts, settings$time,
    settings$extrapolate, fit_tolerance, new_work(settings$threads, settings$backend)
  )
  if (settings$misidentified) {
    spectrum <- misidentified_sfs(spectrum, object$params[["misidentified"]])
  }
  if (attr(object$data, "folded")) spectrum <- fold(spectrum)
  if (is.na(object$theta)) spectrum else spectrum * object$theta
}

check_has_spectrum <- function(fit, name) {
  refuse_if(is.null(fit$data),
            "The fit has no spectrum. Its two-locus statistics are `fit$ld` and `fit$expected_ld`.")
  fit
}

#' @rdname demography_fit
#' @export
residuals.demography_fit <- function(object, type = c("anscombe", "linear"), ...) {
  check_method(object = check_has_spectrum)
  sfs_residuals(object$expected, object$data, type, multinomial = FALSE)
}

#' Compute standard errors of a fit
#'
#' `vcov()` gives the covariance matrix of the fitted parameters of [fit_demography()], and of
#' theta. Standard errors are `sqrt(diag(vcov(fit, bootstraps)))`.
#'
#' @details
#' Without `bootstraps`, sites count as independent (Fisher information). Genomic sites are linked,
#' so these errors are too small. With `bootstraps`, spectra of windows drawn with replacement, the
#' errors are valid for linked sites too (Godambe information; Coffman and others 2016).
#'
#' For a fit with `ld`, errors without `bootstraps` treat bins of two-locus statistics as
#' independent of each other and of the spectrum. These errors are too small. Each bootstrap has a
#' spectrum and two-locus statistics of the same windows, so that errors include their covariances:
#' `list(sfs = lapply(draws, function(w) Reduce("+", spectra[w])), ld = lapply(draws, function(w)
#' do.call(c, statistics[w])))`.
#' Each of `draws` has the indices of windows drawn with replacement; `spectra` and `statistics`
#' have an element for each window. The normal distributions keep the covariances of the data.
#'
#' Gradients come from parameter differences of 1 %, curvatures from differences of 1 to 5 %. The
#' gradients' variability is their variance over bootstraps.
#'
#' @param object A `demography_fit`.
#' @param bootstraps A list of spectra of the data's size, such as `attr(data, "bootstrap")`. They
#'   are folded and masked like the data. For a fit with `ld`: a list with such a list as `sfs`, and
#'   a list of [ld_statistics()] as `ld`. `NULL` (the default): independent sites.
#' @param log Whether to return covariances of the parameters' logarithms; `FALSE` (the default).
#'   Standard errors of logarithms are relative errors.
#' @param ... Not used.
#' @return A matrix with a row and a column for each fitted parameter, and for `theta` if it was
#'   fitted.
#' @section Errors:
#' `ancify_input_error`:
#' * `bootstraps` has fewer than two spectra, or spectra of another size than the data.
#' * A parameter is at a bound.
#' * The likelihood has no maximum at the estimates.
#' * `log` is `TRUE`, and a parameter is not above 0.
#' @references
#' Coffman, Hsieh, Gravel and Gutenkunst (2016) Computationally efficient composite likelihood
#' statistics for demographic inference. Molecular Biology and Evolution 33:591.
#' @seealso [fit_demography()], [`confint()`][confint.demography_fit],
#'   [`anova()`][anova.demography_fit]
#' @export
#' @examples
#' data <- sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI")
#' set.seed(1)
#' fit <- fit_demography(demography_model("two_epoch"), data, c(nu = 2, time = 0.1), starts = 3,
#'                       pts = c(20, 30))
#' sqrt(diag(vcov(fit)))
#' bootstraps <- simulate(data, 20, seed = 1)
#' sqrt(diag(vcov(fit, bootstraps)))
#' sqrt(diag(vcov(fit, bootstraps, log = TRUE)))
vcov.demography_fit <- function(object, bootstraps = NULL, log = FALSE, ...) {
  check_method(log = flag())
  refuse_if(
    length(object$at_bounds),
    "There are no standard errors with parameters at a bound: %s. Fit again with wider bounds, or with these `fixed`.", # nolint: line_length_linter.
    enumerate(object$at_bounds)
  )
  slopes <- likelihood_slopes(object, coef(object), bootstraps)
  covariance <- sandwich(slopes, is.null(bootstraps))
  if (log) covariance / tcrossprod(positive_estimates(object)) else covariance
}

# The inverse of the Fisher information, or of the Godambe information.
sandwich <- function(slopes, independent) {
  inverse <- inverse_information(slopes$information)
  if (independent) inverse else inverse %*% slopes$variability %*% inverse
}

all_estimates <- function(fit) c(coef(fit), if (!is.na(fit$theta)) c(theta = fit$theta))

positive_estimates <- function(fit) {
  estimates <- all_estimates(fit)
  refuse_if(any(estimates <= 0), "%s is %s: `log` is for parameters above 0.",
            names(which(estimates <= 0))[1], format(min(estimates)))
  estimates
}

# list(information = Fisher information at these parameters, by second differences of the
# log-likelihood, variability = the variance of its gradient over bootstraps, slope = the gradient
# for the data). The mean square in place of the variance would be wrong: at a null hypothesis the
# mean gradient is not 0, so a test would never reject.
likelihood_slopes <- function(fit, params, bootstraps, theta = fit$theta) {
  bootstraps <- check_bootstraps(bootstraps, fit)
  at <- c(params, if (fit$surface$settings$multinomial) c(theta = theta))
  n <- length(at)
  # Relative to the larger of value and estimate, as a null hypothesis may have the value 0
  size <- pmax(abs(at), abs(c(coef(fit), fit$theta)[seq_len(n)]), 1e-6)
  ends <- valid_ends(fit, at)
  expected_around <- function(step, moves) {
    with_input_errors_as(
      "Next to the estimates: %s Fit again with `lower` and `upper` of the valid range.",
      expected_at(fit$surface, pmax(pmin(at, ends$upper - step), ends$lower + step),
                  t(step * t(moves)), names(params))
    )
  }
  # The sum over the fit's terms
  log_likelihoods <- function(data, expected) {
    Reduce(`+`, lapply(names(expected), function(name) {
      of_term <- fit$surface$terms[[name]]$log_likelihood
      vapply(expected[[name]], of_term, 0, data = data[[name]], multinomial = FALSE)
    }))
  }
  small <- 0.01 * size
  close <- expected_around(small, stencil(n)[seq_len(1 + 2 * n), , drop = FALSE])
  slope_of <- function(data) {
    values <- log_likelihoods(data, close)[-1]
    (values[seq_len(n)] - values[n + seq_len(n)]) / (2 * small)
  }
  observed <- lapply(fit$surface$terms, `[[`, "data")
  step <- curvature_steps(fit, at, size, own_second_differences(
    log_likelihoods(observed, close), small
  ))
  values <- log_likelihoods(observed, expected_around(step, stencil(n)))
  information <- -second_differences(values, step)
  dimnames(information) <- list(names(at), names(at))
  slopes <- matrix(vapply(bootstraps, slope_of, numeric(n)), n, dimnames = list(names(at), NULL))
  list(information = information, variability = stats::var(t(slopes)), slope = slope_of(observed))
}

# The limits of valid values, from which differences stay at least one step away. Parameters of at
# least 0 must not become negative.
valid_ends <- function(fit, at) {
  ranges <- parameter_ranges(fit$model, intersect("misidentified", names(at)))
  ranges <- lapply(ranges, function(range) range[names(range) %in% names(at)])
  ends <- list(lower = ifelse(at >= 0, 0, -Inf), upper = replace(at, seq_along(at), Inf))
  Map(function(ends, range) replace(ends, names(range), range), ends, ranges)
}

# Steps for second differences: the standard error with all other parameters fixed, limited to 1 to
# 5 % and to the bounds. The log-likelihood jumps by some thousandths where the number of time steps
# changes. With steps of 1 % such a jump can be half of the curvature; gradients are hardly
# affected.
curvature_steps <- function(fit, at, size, curvature) {
  errors <- 1 / sqrt(pmax(-curvature, 0))
  bounds <- fit$bounds[seq_along(at), ] # NA for theta
  room <- pmin(abs(bounds$upper - at), abs(at - bounds$lower))
  pmax(pmin(errors, room, 0.05 * size, na.rm = TRUE), 0.01 * size)
}

# Each term's expectations at the parameters plus each row of `moves`. Theta is only a factor, so
# points that differ only in theta are computed once.
expected_at <- function(surface, at, moves, params) {
  places <- lapply(seq_len(nrow(moves)), function(i) at + moves[i, ])
  sets <- lapply(places, function(place) place[params])
  distinct <- unique(sets)
  lapply(surface$terms, function(term) {
    expected <- term$expected(distinct, stop_at_errors = TRUE)[match(sets, distinct)]
    if (length(at) == length(params)) {
      return(expected)
    }
    Map(function(one, place) term$scaled(one, place[[length(at)]]), expected, places)
  })
}

inverse_information <- function(information, problem = paste(
  "The likelihood has no maximum at the estimates, so there are no standard errors.",
  "Has the fit converged?"
)) {
  inverse <- tryCatch(chol2inv(chol(information)), error = function(error) {
    abort_ancify(problem, "input")
  })
  dimnames(inverse) <- dimnames(information)
  inverse
}
