# Distributions of fitness effects, and the spectra of mutations that have them.

#' @rdname selected_spectra
#' @export
dfe_sfs <- function(spectra, dfe, theta = 1) {
  check_args(spectra = check_selected_spectra, dfe = check_dfe, theta = positive(1))
  summed_spectra(spectra, cells_of(spectra), dfe, theta)
}

# A column for each spectrum.
cells_of <- function(spectra) {
  matrix(unlist(lapply(spectra$spectra, plain_array)), ncol = length(spectra$spectra))
}

summed_spectra <- function(spectra, cells, dfe, theta) {
  one <- spectra$spectra[[1]]
  sums <- cells %*% dfe_weights(dfe, spectra$gammas, has_pairs(spectra), spline_of)
  # A spline may fall below 0 where cells decrease steeply: interpolate linearly there.
  below <- !is.na(sums) & sums < 0
  if (any(below)) {
    lines <- dfe_weights(dfe, spectra$gammas, has_pairs(spectra), linear_of)
    sums[below] <- (cells %*% lines)[below]
  }
  sums <- array(theta * sums, dim(one))
  new_sfs(sums, names(dimnames(one)), attr(one, "mask"), FALSE)
}

#' @rdname selected_spectra
#' @export
dfe_model <- function(spectra, dfe, theta = 1) {
  check_args(spectra = check_selected_spectra, theta = positive(1))
  params <- if (is.function(dfe)) names(formals(args(dfe)))
  refuse_if(!length(params) || "..." %in% params,
            "`dfe` must be a function of named parameters that returns a DFE, such as dfe_gamma.")
  structure(list(spectra = spectra, dfe = dfe, theta = theta, params = params),
            class = "dfe_model")
}

#' @export
print.dfe_model <- function(x, ...) {
  write_object("dfe_model", count_of(length(x$params), "parameter"), c(
    parameters = paste(x$params, collapse = ", "), theta = format(x$theta, digits = 4),
    spectra_fields(x$spectra)
  ))
  invisible(x)
}

# ---- Distributions -------------------------------------------------------------------------------

# A part is list(share, name, and one of these). A row of part_kinds() computes its weights.
# cumulative  the distribution function of -gamma
# gamma       the coefficient of a point
# both        list(first =, second =): a DFE for each of two populations
# normal      list(mean =, sd =, correlation =) of log(-gamma) in two populations
new_dfe <- function(...) structure(list(parts = list(list(share = 1, ...))), class = "dfe")

#' @rdname selected_spectra
#' @export
dfe_gamma <- function(shape, scale) {
  check_args(shape = positive(1), scale = positive(1))
  new_dfe(
    name = sprintf("gamma(shape = %s, scale = %s)", format(shape), format(scale)),
    cumulative = function(x) stats::pgamma(x, shape, scale = scale)
  )
}

#' @rdname selected_spectra
#' @export
dfe_exponential <- function(scale) {
  check_args(scale = positive(1))
  new_dfe(
    name = sprintf("exponential(scale = %s)", format(scale)),
    cumulative = function(x) stats::pexp(x, 1 / scale)
  )
}

#' @rdname selected_spectra
#' @export
dfe_lognormal <- function(meanlog, sdlog) {
  check_args(meanlog = number(), sdlog = positive(1))
  new_dfe(
    name = sprintf("lognormal(meanlog = %s, sdlog = %s)", format(meanlog), format(sdlog)),
    cumulative = function(x) stats::plnorm(x, meanlog, sdlog)
  )
}

#' @rdname selected_spectra
#' @export
dfe_point <- function(gamma) {
  check_args(gamma = number())
  new_dfe(name = format(gamma), gamma = gamma)
}

check_dfe <- of_class("dfe", "a DFE such as dfe_gamma(0.2, 1000)")

#' @rdname selected_spectra
#' @export
dfe_mixture <- function(..., shares) {
  check_given()
  dfes <- list(...)
  refuse_if(!length(dfes) || !all(vapply(dfes, inherits, NA, "dfe")),
            "dfe_mixture() takes DFEs, such as dfe_gamma(0.2, 1000).")
  good <- is.numeric(shares) && length(shares) == length(dfes) && isTRUE(all(shares >= 0)) &&
    abs(sum(shares) - 1) < 1e-9
  refuse_if(!good, "`shares` must be %s from 0 on, with the sum 1, not %s.",
            count_of(length(dfes), "number"), show_value(shares))
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
