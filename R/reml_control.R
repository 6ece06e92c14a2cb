#' Settings of a REML fit
#'
#' Makes the `control` of [fit_reml()]: bounds, start, and precision of the search. The defaults
#' suit almost all fits.
#'
#' @details
#' The exact path uses `start`, `lower`, `information`, `tolerance` and `max_iterations`. The
#' stochastic path uses all settings, but for several components only average information.
#'
#' @param start Initial variances, in squared units of the response: one for each component, the
#'   residual last, or named by component. `NULL` (the default): the search chooses a start.
#' @param lower Lower bound of genetic variances: one number, 0 by default, or numbers named by
#'   component, also `residual`. `-Inf` removes the bound; the covariance stays positive definite.
#' @param information The matrix for steps and standard errors: `"average"` (the default) or
#'   `"expected"` information.
#' @param probes Number of random probes during the search, 16 by default. Or the probes: a matrix
#'   of 1 and -1 with a row for each sample of the analysis. The fit then uses only these probes. As
#'   many orthogonal probes as samples give exact traces. A column that the fixed effects explain
#'   counts as a probe that adds 0.
#' @param max_probes Largest number of probes at the end of the search, 1,000 by default. A fit that
#'   would need more has not converged, and reports its remaining Monte Carlo error.
#' @param mc_tolerance Largest Monte Carlo error, as a fraction of the standard error, 0.05 by
#'   default. Probes are added until all components are below it.
#' @param rank Rank of the preconditioner. `NULL` (the default): chosen by number of samples and
#'   memory.
#' @param tolerance Largest squared length of the last step, in standard errors. `NULL` (the
#'   default): 1e-18 on the exact path, 1e-4 on the stochastic one.
#' @param max_iterations Largest number of steps, 100 by default.
#' @param seed An integer, the seed of all probes, 1 by default. Equal seeds give equal fits.
#' @return A list of class `reml_control`.
#' @section Errors:
#' `ancify_input_error`: a setting has a wrong type or range.
#' @seealso [fit_reml()]
#' @export
#' @examples
#' reml_control(lower = -Inf, max_iterations = 50)
reml_control <- function(start = NULL, lower = 0, information = c("average", "expected"),
                         probes = 16, max_probes = 1000, mc_tolerance = 0.05, rank = NULL,
                         tolerance = NULL, max_iterations = 100, seed = 1) {
  if (!is.null(start)) check_numbers(start, "start")
  check_numbers(lower, "lower", allowed = -Inf)
  if (is.matrix(probes)) {
    check_probes(probes)
  } else {
    check_whole_number(probes, "probes")
  }
  check_args(rank = optional(at_least(0)), tolerance = optional(positive(1)))
  structure(
    list(
      start = start, lower = lower,
      information = check_choice(information, c("average", "expected"), "information"),
      probes = probes, max_probes = check_whole_number(max_probes, "max_probes"),
      mc_tolerance = check_positive(mc_tolerance, "mc_tolerance", 1), rank = rank,
      tolerance = tolerance, max_iterations = check_whole_number(max_iterations, "max_iterations"),
      seed = at_least(0)(seed, "seed")
    ),
    class = "reml_control"
  )
}

#' @export
print.reml_control <- function(x, ...) {
  check_no_more(...)
  shown <- lapply(unclass(x), function(value) {
    if (is.null(value)) {
      "automatic"
    } else if (is.matrix(value)) {
      paste(dim(value), collapse = " x ")
    } else {
      names <- if (is.null(names(value))) "" else paste0(names(value), " = ")
      paste0(names, vapply(value, format, "", digits = 6), collapse = ", ")
    }
  })
  write_object("reml_control", NULL, unlist(shown))
  invisible(x)
}

# Finite numbers; -Inf too, if it is `allowed`.
check_numbers <- function(x, name, allowed = NULL) {
  must_be(is.numeric(x) && length(x) > 0 && all(is.finite(x) | x %in% allowed), x, name,
          "numbers, named by component or in their order")
}

check_probes <- function(probes) {
  refuse_if(!is.numeric(probes) || !all(is.finite(probes)) || ncol(probes) == 0,
            "`probes` must be a whole number, or a matrix of numbers with a row for each sample.")
}

# ---- For the core --------------------------------------------------------------------------------

# The settings for these components (the residual last) and this path (`method`). The core chooses
# bounds that are NA.
core_control <- function(control, components, samples, method) {
  refuse_if(is.matrix(control$probes) && nrow(control$probes) != samples,
            "`probes` has %s rows, but the analysis has %s: give a row for each.",
            format_count(nrow(control$probes)), count_of(samples, "sample"))
  settings <- unclass(control)
  if (!is.null(control$start)) {
    settings["start"] <- list(by_component(control$start, components, "start"))
  }
  settings$lower <- lower_bounds(control$lower, components)
  settings$tolerance <- control$tolerance %||% default_tolerance[[method]]
  settings
}

# The result of core_control() as a list for the core: `probes` is a number of probes or NULL,
# `given_probes` a matrix of them or NULL.
control_list <- function(control) {
  given <- is.matrix(control$probes)
  core_list(
    "RemlControl",
    start = control$start, lower = control$lower, information = control$information,
    probes = if (!given) control$probes, given_probes = if (given) control$probes,
    max_probes = control$max_probes, mc_tolerance = control$mc_tolerance, rank = control$rank,
    tolerance = control$tolerance, max_iterations = control$max_iterations, seed = control$seed
  )
}

# Lower bounds of variances; NA if the core chooses.
lower_bounds <- function(given, components) {
  one <- length(given) == 1 && is.null(names(given))
  lower <- stats::setNames(rep(if (one) given else 0, length(components)), components)
  lower[is_residual(components)] <- NA
  if (!one) {
    given <- by_component(given, components, "lower", some = TRUE)
    lower[names(given)] <- given
  }
  unname(lower)
}

default_tolerance <- list(exact = 1e-18, stochastic = 1e-4)

# Numbers in the order of the components. With `some`, only those that are named, by name.
by_component <- function(x, components, name, some = FALSE) {
  given <- names(x)
  if (is.null(given) && length(x) == length(components)) {
    return(stats::setNames(as.double(x), components))
  }
  good <- !is.null(given) && !anyDuplicated(given) && all(given %in% components) &&
    (some || length(given) == length(components))
  refuse_if(!good, "`%s` has %s, but the components are %s: give a number for each.", name,
            if (is.null(given)) count_of(length(x), "number") else enumerate(quoted(given)),
            enumerate(quoted(components)))
  x[if (some) given else components]
}
