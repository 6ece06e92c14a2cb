# The space that fit_demography() searches: bounds and scales.

# Start, bounds and scales of the fitted parameters, and the values of the fixed ones.
search_space <- function(model, sampling, start, lower, upper, fixed, misidentified) {
  if (!inherits(model, c("demography", "dfe_model"))) {
    abort_ancify("`model` must be a demography() or a dfe_model().", "input")
  }
  names <- params_of_spectra(model, sampling)
  if (misidentified && "misidentified" %in% names) {
    abort_ancify(
      "The fit has a parameter `misidentified` of its own: give the model's another name.", "input"
    )
  }
  own <- if (misidentified) "misidentified"
  names <- c(names, own)
  if (!length(names)) abort_ancify("`model` has no parameters: there is nothing to fit.", "input")
  fixed <- check_named_numbers(fixed, names, "fixed")
  free <- setdiff(names, names(fixed))
  if (!length(free)) abort_ancify("All parameters are fixed: there is nothing to fit.", "input")
  start <- check_named_numbers(start, names, "start")
  start <- c(start, c(misidentified = 0.01)[setdiff(own, names(start))])
  missing <- setdiff(free, names(start))
  if (length(missing)) {
    abort_ancify(sprintf("`start` must have a value for %s.", enumerate(missing)), "input")
  }
  start <- start[free]
  bound <- function(given, default, name) {
    given <- check_named_numbers(given, names, name)
    given <- given[names(given) %in% free]
    replace(default, names(given), given)
  }
  most <- replace(pmax(start / 100, start * 100), free %in% own, 1)
  space <- list(
    start = start, fixed = fixed,
    lower = bound(lower, pmin(start / 100, start * 100), "lower"),
    upper = bound(upper, most, "upper")
  )
  check_bounds(space)
  space$logs <- space$lower > 0
  space
}

check_bounds <- function(space) {
  inside <- space$lower <= space$start & space$start <= space$upper & space$lower < space$upper
  wrong <- which(!inside)
  if (length(wrong)) {
    i <- wrong[1]
    abort_ancify(
      sprintf(
        "The start of %s, %s, must be between its bounds, %s and %s: give `lower` and `upper`.",
        names(space$start)[i], format(space$start[i]), format(space$lower[i]),
        format(space$upper[i])
      ),
      "input"
    )
  }
}

check_named_numbers <- function(x, names, name) {
  if (is.null(x)) {
    return(numeric())
  }
  if (is.list(x)) x <- unlist(x)
  good <- is.numeric(x) && all(is.finite(x)) && !is.null(names(x)) && !anyDuplicated(names(x)) &&
    all(names(x) %in% names)
  if (!good) {
    abort_ancify(
      sprintf("`%s` must be finite numbers, named by the parameters %s.", name, enumerate(names)),
      "input"
    )
  }
  x
}

# Conversions between parameters and the scale of the search.
to_scale <- function(space, params) {
  replace(params, space$logs, log(params[space$logs]))
}

from_scale <- function(space, x) replace(x, space$logs, exp(x[space$logs]))
