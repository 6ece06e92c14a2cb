# The space that fit_demography() searches: bounds and scales.

# Default bounds are `start` divided by this, and `start` times this. A hundred is too little: the
# depth and duration of a short bottleneck compensate for each other over a wider range.
default_reach <- 1000

# Start, bounds and scales of the fitted parameters, and the values of the fixed ones. `owners`: the
# "user", a "default" or the parameter's "range", for each of `lower` and `upper`. `own`: parameters
# of the fit itself, "misidentified" and "reference_size".
search_space <- function(model, sampling, start, lower, upper, fixed, own) {
  refuse_if(!inherits(model, c("demography", "dfe_model")),
            "`model` must be a demography() or a dfe_model().")
  names <- params_of_spectra(model, sampling)
  both <- intersect(own, names)
  refuse_if(length(both), "The fit has a parameter `%s` of its own: give the model's another name.",
            both[1])
  names <- c(names, own)
  refuse_if(!length(names), "`model` has no parameters: there is nothing to fit.")
  fixed <- check_named_numbers(fixed, names, "fixed")
  free <- setdiff(names, names(fixed))
  refuse_if(!length(free), "All parameters are fixed: there is nothing to fit.")
  start <- check_named_numbers(start, names, "start")
  start <- c(start, c(misidentified = 0.01)[setdiff(setdiff(own, "reference_size"), names(start))])
  missing <- setdiff(free, names(start))
  refuse_if(length(missing), "`start` must have a value for %s.", enumerate(missing))
  start <- start[free]
  given <- list(lower = check_named_numbers(lower, names, "lower"),
                upper = check_named_numbers(upper, names, "upper"))
  given <- lapply(given, function(bound) bound[names(bound) %in% free])
  ends <- rbind(start / default_reach, start * default_reach)
  bounds <- list(lower = apply(ends, 2, min), upper = apply(ends, 2, max))
  owners <- lapply(bounds, function(bound) replace(bound, names(bound), "default"))
  ranges <- lapply(parameter_ranges(model, own), function(range) range[names(range) %in% free])
  bounds <- Map(function(bound, range) replace(bound, names(range), range), bounds, ranges)
  owners <- Map(function(owner, range) replace(owner, names(range), "range"), owners, ranges)
  space <- c(
    list(start = start, fixed = fixed),
    Map(function(bound, own) replace(bound, names(own), own), bounds, given),
    list(owners = Map(function(owner, own) replace(owner, names(own), "user"), owners, given))
  )
  check_bounds(space)
  with_scale(space)
}

# list(lower =, upper =): limits of the parameters whose range is known.
parameter_ranges <- function(model, own) {
  shares <- setdiff(own, "reference_size")
  of_dfe <- if (inherits(model, "dfe_model")) dfe_ranges[intersect(model$params, names(dfe_ranges))]
  list(
    lower = vapply(of_dfe, `[[`, 0, 1),
    upper = c(vapply(of_dfe, `[[`, 0, 2), stats::setNames(rep(1, length(shares)), shares))
  )
}

# Parameters with a lower bound above 0 have a logarithmic scale. Others are in units of their
# start, as some are rates of 1e-5 and some sizes of thousands.
with_scale <- function(space) {
  space$logs <- space$lower > 0
  space$unit <- ifelse(space$logs | space$start == 0, 1, abs(space$start))
  space
}

check_bounds <- function(space) {
  inside <- space$lower <= space$start & space$start <= space$upper & space$lower < space$upper
  wrong <- which(!inside)
  if (length(wrong)) {
    i <- wrong[1]
    refuse_input(
      "The start of %s, %s, must be between its bounds, %s and %s: give `lower` and `upper`.",
      names(space$start)[i], format(space$start[i]), format(space$lower[i]), format(space$upper[i])
    )
  }
}

# The values of a model from read_demes(), replaced by the given ones.
with_own <- function(model, kind, given) {
  own <- attr(model, kind)
  if (is.null(own) || is.null(names(given))) {
    return(if (is.null(given)) own else given)
  }
  own[names(given)] <- unlist(given)
  own
}

# The table of bounds in a fit. `at`: the bound within 1 % of the estimate.
bounds_of_space <- function(space, params) {
  is_at <- function(bound) abs(params - bound) <= 0.01 * abs(bound)
  data.frame(
    lower = space$lower, upper = space$upper,
    lower_of = space$owners$lower, upper_of = space$owners$upper,
    at = ifelse(is_at(space$lower), "lower", ifelse(is_at(space$upper), "upper", NA)),
    row.names = names(space$start)
  )
}

# True if an estimate is at a default bound, not at a user's bound or at the end of the parameter's
# range. The maximum is then elsewhere.
is_at_default <- function(bounds) {
  own <- ifelse(bounds$at %in% "upper", bounds$upper_of, bounds$lower_of)
  any(!is.na(bounds$at) & own == "default")
}

# For each parameter at a bound: the bound's source, and a remedy.
bound_sentences <- function(bounds) {
  there <- bounds[!is.na(bounds$at), ]
  vapply(seq_len(nrow(there)), function(i) {
    side <- there$at[i]
    name <- rownames(there)[i]
    value <- there[[side]][i]
    beyond <- if ((value > 0) == (side == "lower")) value / default_reach
    else value * default_reach
    switch(
      there[[paste0(side, "_of")]][i],
      user = sprintf("%s is at your bound, `%s = c(%s = %s)`: give a %s one, or fix it.", name,
                     side, name, format(value), if (side == "lower") "smaller" else "larger"),
      default = sprintf(
        "%s is at the default bound %s, so the fit has not converged: give `%s = c(%s = %s)`, or fix it.", # nolint: line_length_linter.
        name, format(value), side, name, format(beyond)
      ),
      range = sprintf("%s is at %s, the end of its range: fix it.", name, format(value))
    )
  }, "")
}

check_named_numbers <- function(x, names, name) {
  if (is.null(x)) {
    return(numeric())
  }
  if (is.list(x)) x <- unlist(x)
  good <- is.numeric(x) && all(is.finite(x)) && !is.null(names(x)) && !anyDuplicated(names(x)) &&
    all(names(x) %in% names)
  refuse_if(!good, "`%s` must be finite numbers, named by the parameters %s.", name,
            enumerate(names))
  x
}

# Conversions between parameters and the scale of the search.
to_scale <- function(space, params) {
  replace(params / space$unit, space$logs, log(params[space$logs]))
}

from_scale <- function(space, x) replace(x * space$unit, space$logs, exp(x[space$logs]))
