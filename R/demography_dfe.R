#' Compute spectra under distributions of fitness effects
#'
#' `selected_spectra()` computes a demographic model's spectrum for many selection coefficients,
#' once. `dfe_sfs()` combines them by a distribution of fitness effects (DFE):
#' `dfe_sfs(spectra, dfe_gamma(0.2, 1000))`. `dfe_model()` makes a model whose parameters
#' [fit_demography()] can fit.
#'
#' @details
#' Selection is the same in all populations and at all times. Coefficients `gamma` have the units
#' of [demography_events]. A DFE is for negative ones: `dfe_gamma(0.2, 1000)` is a gamma
#' distribution of `-gamma`.
#'
#' | `gamma` of a mutation | Spectrum |
#' | --- | --- |
#' | between two computed coefficients | a cubic spline in `log(-gamma)`; lines if that is below 0 |
#' | weaker than the weakest negative one | that of `gamma = 0`; for `dfe_point()` a line to it |
#' | stronger than the strongest one | that of the strongest one; for `dfe_point()` an error |
#'
#' The usual analysis fits a demographic model to synonymous sites first. It then fits a DFE to
#' nonsynonymous sites, with the first fit's parameters as `params`. Its `theta` is that of the
#' first fit times the ratio of nonsynonymous to synonymous mutations.
#'
#' @param model A [demography()] or a list of events, without selection.
#' @param params,sample_sizes,pts,time,extrapolate,sampling,threads,backend,progress As in
#'   [expected_sfs()]. Strong selection takes many time steps, and finer grids than `pts` where
#'   these would give negative counts.
#' @param gammas Selection coefficients; 0 is added. Default: 100 from -0.0001 to -2000, evenly
#'   spaced by their logarithm. Negative ones can be at most a factor of 4 apart. Positive ones are
#'   for `dfe_point()`.
#' @param h Dominance, 0.5 (additive) by default.
#' @param spectra The result of `selected_spectra()`.
#' @param dfe For `dfe_sfs()` a DFE, such as `dfe_gamma(0.2, 1000)`. For `dfe_model()` a function
#'   that returns one, such as `dfe_gamma`; its arguments are the parameters.
#' @param theta Factor of the spectrum, 1 by default: 4 times the reference size times the mutation
#'   rate times the length of the selected sequence.
#' @param shape,scale Parameters of the gamma distribution, with mean `shape * scale`, and of the
#'   exponential distribution, with mean `scale`. `scale` is in units of `-gamma`.
#' @param meanlog,sdlog Mean and standard deviation of `log(-gamma)`.
#' @param gamma The selection coefficient of all mutations. A positive one, or one stronger than all
#'   others, must be one of `gammas`.
#' @param ... DFEs to mix.
#' @param shares Share of mutations for each of these DFEs, with the sum 1.
#' @return
#' * `selected_spectra()`: a list of class `selected_spectra`: `gammas`, in rising order, and
#'   `spectra`, an [sfs()] for each.
#' * `dfe_sfs()`: an [sfs()].
#' * `dfe_model()`: a list of class `dfe_model`, with the parameters' names as `params`.
#' * The other functions: a list of class `dfe`.
#' @section Errors:
#' * `ancify_input_error`: the model has selection of its own or is invalid for [expected_sfs()], a
#'   distribution's parameter is invalid, or a needed coefficient was not computed.
#' * `ancify_device_error`, `ancify_system_error`: as from [expected_sfs()].
#' * `ancify_grid_warning`: as from [expected_sfs()].
#' @references
#' Kim, Huber and Lohmueller (2017) Inference of the distribution of selection coefficients for new
#' nonsynonymous mutations using large samples. Genetics 206:345.
#' @seealso [expected_sfs()], [fit_demography()]
#' @export
#' @examples
#' snm <- demography_model("snm")
#' spectra <- selected_spectra(snm, NULL, c(YRI = 8), c(40, 50, 60), gammas = -10^seq(-2, 2, 0.5))
#' spectra
#' deleterious <- dfe_mixture(dfe_gamma(0.3, 100), dfe_point(0), shares = c(0.9, 0.1))
#' dfe_sfs(spectra, deleterious, theta = 2000)
#' dfe_sfs(spectra, dfe_lognormal(2, 1), theta = 2000)
#' dfe_sfs(spectra, dfe_exponential(30), theta = 2000)
#'
#' data <- dfe_sfs(spectra, dfe_gamma(0.3, 100), theta = 2000)
#' set.seed(1)
#' fit_demography(dfe_model(spectra, dfe_gamma, theta = 2000), data, c(shape = 0.5, scale = 50))
selected_spectra <- function(model, params = NULL, sample_sizes, pts, gammas = NULL, h = 0.5,
                             time = c("accurate", "dadi"),
                             extrapolate = c("linear", "log"), sampling = "analytic",
                             threads = NULL, backend = "auto", progress = interactive()) {
  check_given()
  settled <- settle_params(model, params, sampling)
  events <- settled$events
  if (has_selection(events)) {
    abort_ancify("`model` must have no selection: `gammas` are its coefficients.", "input")
  }
  gammas <- check_gammas(gammas %||% -exp(seq(log(1e-4), log(2000), length.out = 100)))
  if (!is_number(h)) {
    abort_ancify(sprintf("`h` must be a number, not %s.", show_value(h)), "input")
  }
  sizes <- check_sample_sizes(sample_sizes, populations_after(events))
  time <- check_choice(time, c("accurate", "dadi"), "time")
  extrapolate <- check_choice(extrapolate, c("linear", "log"), "extrapolate")
  sampling <- check_sampling(settled$sampling, sizes)
  pts <- check_pts(pts, sampling$sizes)
  models <- lapply(gammas, function(gamma) with_selection(events, gamma, h))
  backend <- choose_backend(backend, threads)
  found <- on_fine_grids(models, sizes, pts, time, extrapolate, sampling, backend, progress)
  finer <- !vapply(found$pts, identical, NA, pts)
  if (any(finer)) {
    warn_of_finer(pts, found$pts, sprintf(
      " for selection coefficients from %s to %s", format(min(gammas[finer]), digits = 4),
      format(max(gammas[finer]), digits = 4)
    ))
  }
  structure(list(gammas = gammas, spectra = found$spectra), class = "selected_spectra")
}

#' @rdname selected_spectra
#' @export
dfe_sfs <- function(spectra, dfe, theta = 1) {
  check_given()
  check_selected_spectra(spectra)
  if (!inherits(dfe, "dfe")) {
    abort_ancify(
      sprintf("`dfe` must be a DFE such as dfe_gamma(0.2, 1000), not %s.", show_value(dfe)), "input"
    )
  }
  check_positive(theta, "theta", 1)
  one <- spectra$spectra[[1]]
  cells <- vapply(spectra$spectra, plain_array, plain_array(one))
  dim(cells) <- c(length(one), length(spectra$gammas))
  sums <- cells %*% dfe_weights(dfe, spectra$gammas, spline_of)
  # A spline overshoots if cells fall steeply.
  below <- !is.na(sums) & sums < 0
  if (any(below)) sums[below] <- (cells %*% dfe_weights(dfe, spectra$gammas, linear_of))[below]
  sums <- array(theta * sums, dim(one))
  new_sfs(sums, names(dimnames(one)), attr(one, "mask"), FALSE)
}

#' @rdname selected_spectra
#' @export
dfe_model <- function(spectra, dfe, theta = 1) {
  check_given()
  check_selected_spectra(spectra)
  check_positive(theta, "theta", 1)
  params <- if (is.function(dfe)) names(formals(args(dfe)))
  if (!length(params) || "..." %in% params) {
    abort_ancify(
      "`dfe` must be a function of named parameters that returns a DFE, such as dfe_gamma.", "input"
    )
  }
  structure(list(spectra = spectra, dfe = dfe, theta = theta, params = params),
            class = "dfe_model")
}

#' @export
print.selected_spectra <- function(x, ...) {
  write_object(
    "selected_spectra", count_of(length(x$gammas), "selection coefficient"), spectra_fields(x)
  )
  invisible(x)
}

#' @export
print.dfe_model <- function(x, ...) {
  write_object("dfe_model", count_of(length(x$params), "parameter"), c(
    parameters = paste(x$params, collapse = ", "), theta = format(x$theta, digits = 4),
    spectra_fields(x$spectra)
  ))
  invisible(x)
}

spectra_fields <- function(spectra) {
  range <- vapply(range(spectra$gammas), format, "", digits = 4)
  c(
    haplotypes = paste(dim(spectra$spectra[[1]]) - 1, collapse = " x "),
    gammas = sprintf("%d from %s to %s", length(spectra$gammas), range[1], range[2])
  )
}

check_selected_spectra <- function(x) {
  if (!inherits(x, "selected_spectra")) {
    abort_ancify(
      sprintf("`spectra` must be a result of selected_spectra(), not %s.", show_value(x)), "input"
    )
  }
}

check_gammas <- function(gammas) {
  if (!is.numeric(gammas) || !length(gammas) || !isTRUE(all(abs(gammas) <= 1e6))) {
    abort_ancify(
      sprintf("`gammas` must be numbers from -1e6 to 1e6, not %s.", show_value(gammas)), "input"
    )
  }
  sort(unique(c(gammas, 0)))
}

is_number <- function(x) is.numeric(x) && length(x) == 1 && is.finite(x)

has_selection <- function(events) {
  coefficients <- unlist(lapply(events, `[[`, "selection"), recursive = FALSE)
  !all(vapply(coefficients, identical, NA, 0))
}

with_selection <- function(events, gamma, h) {
  # One number, a list with one for each population, or NULL for an event without selection.
  as_before <- function(old, value) {
    if (is.list(old)) rep(list(value), length(old)) else if (!is.null(old)) value
  }
  lapply(events, function(event) {
    event$selection <- as_before(event$selection, gamma)
    event$dominance <- as_before(event$dominance, h)
    event
  })
}

# ---- Distributions -------------------------------------------------------------------------------

# A part is list(share, name, cumulative or gamma). `cumulative`: the distribution function of
# -gamma. `gamma`: the coefficient of a point.
new_dfe <- function(...) structure(list(parts = list(list(share = 1, ...))), class = "dfe")

#' @rdname selected_spectra
#' @export
dfe_gamma <- function(shape, scale) {
  check_given()
  check_positive(shape, "shape", 1)
  check_positive(scale, "scale", 1)
  new_dfe(
    name = sprintf("gamma(shape = %s, scale = %s)", format(shape), format(scale)),
    cumulative = function(x) stats::pgamma(x, shape, scale = scale)
  )
}

#' @rdname selected_spectra
#' @export
dfe_exponential <- function(scale) {
  check_given()
  check_positive(scale, "scale", 1)
  new_dfe(
    name = sprintf("exponential(scale = %s)", format(scale)),
    cumulative = function(x) stats::pexp(x, 1 / scale)
  )
}

#' @rdname selected_spectra
#' @export
dfe_lognormal <- function(meanlog, sdlog) {
  check_given()
  if (!is_number(meanlog)) {
    abort_ancify(sprintf("`meanlog` must be a number, not %s.", show_value(meanlog)), "input")
  }
  check_positive(sdlog, "sdlog", 1)
  new_dfe(
    name = sprintf("lognormal(meanlog = %s, sdlog = %s)", format(meanlog), format(sdlog)),
    cumulative = function(x) stats::plnorm(x, meanlog, sdlog)
  )
}

#' @rdname selected_spectra
#' @export
dfe_point <- function(gamma) {
  check_given()
  if (!is_number(gamma)) {
    abort_ancify(sprintf("`gamma` must be a number, not %s.", show_value(gamma)), "input")
  }
  new_dfe(name = format(gamma), gamma = gamma)
}

#' @rdname selected_spectra
#' @export
dfe_mixture <- function(..., shares) {
  check_given()
  dfes <- list(...)
  if (!length(dfes) || !all(vapply(dfes, inherits, NA, "dfe"))) {
    abort_ancify("dfe_mixture() takes DFEs, such as dfe_gamma(0.2, 1000).", "input")
  }
  good <- is.numeric(shares) && length(shares) == length(dfes) && isTRUE(all(shares >= 0)) &&
    abs(sum(shares) - 1) < 1e-9
  if (!good) {
    abort_ancify(
      sprintf("`shares` must be %s from 0 on, with the sum 1, not %s.",
              count_of(length(dfes), "number"), show_value(shares)),
      "input"
    )
  }
  parts <- Map(function(dfe, share) {
    lapply(dfe$parts, function(part) replace(part, "share", part$share * share))
  }, dfes, shares)
  structure(list(parts = do.call(c, parts)), class = "dfe")
}

#' @export
print.dfe <- function(x, ...) {
  parts <- vapply(x$parts, `[[`, "", "name")
  shares <- vapply(x$parts, function(part) format(part$share), "")
  write_object("dfe", count_of(length(parts), "part"), structure(parts, names = shares))
  invisible(x)
}

# ---- Weights -------------------------------------------------------------------------------------

# Steps of integration between two computed coefficients.
places_between <- 20

# The weight of each coefficient's spectrum. `interpolate`: spline_of or linear_of.
dfe_weights <- function(dfe, gammas, interpolate) {
  Reduce(`+`, lapply(dfe$parts, function(part) {
    part$share * if (is.null(part$gamma)) {
      distribution_weights(part$cumulative, gammas, interpolate)
    } else {
      point_weights(part$gamma, gammas, interpolate)
    }
  }))
}

# The probability between two places is shared equally by both. So all probability counts, also of
# a density without a bound.
distribution_weights <- function(cumulative, gammas, interpolate = spline_of) {
  strengths <- log(-gammas[gammas < 0])
  check_interpolated(strengths)
  n <- length(strengths)
  places <- stats::approx(seq_len(n), strengths, n = (n - 1) * places_between + 1)$y
  shares <- abs(diff(cumulative(exp(places))))
  at_places <- (c(shares, 0) + c(0, shares)) / 2
  of_knots <- c(at_places %*% interpolate(strengths, places))
  weights <- replace(numeric(length(gammas)), seq_len(n), of_knots)
  weights[1] <- weights[1] + 1 - cumulative(exp(strengths[1]))
  neutral <- which(gammas == 0)
  weights[neutral] <- weights[neutral] + cumulative(exp(strengths[n]))
  weights
}

point_weights <- function(gamma, gammas, interpolate) {
  computed <- gammas == gamma
  if (any(computed)) {
    return(as.double(computed))
  }
  weakest <- max(gammas[gammas < 0], -Inf)
  if (gamma > 0 || gamma < gammas[1] || !is.finite(weakest)) {
    abort_ancify(
      sprintf("The selection coefficient %s must be one of the computed `gammas`.",
              format(gamma)),
      "input"
    )
  }
  weights <- numeric(length(gammas))
  if (gamma > weakest) {
    weights[gammas == weakest] <- gamma / weakest
    weights[gammas == 0] <- 1 - gamma / weakest
    return(weights)
  }
  strengths <- log(-gammas[gammas < 0])
  check_interpolated(strengths)
  replace(weights, seq_along(strengths), interpolate(strengths, log(-gamma)))
}

check_interpolated <- function(strengths) {
  if (length(strengths) < 4) {
    abort_ancify(
      sprintf("A DFE needs spectra of at least 4 negative selection coefficients, but there %s.",
              if (length(strengths) == 1) "is 1" else paste("are", length(strengths))),
      "input"
    )
  }
  gaps <- -diff(strengths)
  if (max(gaps) > log(4)) {
    k <- which.max(gaps)
    abort_ancify(
      sprintf("The selection coefficients %s and %s are too far apart: `gammas` must be at most a factor of 4 apart.", # nolint
              format(-exp(strengths[k]), digits = 4), format(-exp(strengths[k + 1]), digits = 4)),
      "input"
    )
  }
}

# Weights of each knot's value at these places: a row for each place.
spline_of <- function(knots, places) {
  vapply(seq_along(knots), function(k) {
    stats::spline(knots, as.double(seq_along(knots) == k), xout = places, method = "natural")$y
  }, places)
}

linear_of <- function(knots, places) {
  vapply(seq_along(knots), function(k) {
    stats::approx(knots, as.double(seq_along(knots) == k), xout = places, rule = 2)$y
  }, places)
}
