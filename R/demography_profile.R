#' Compute confidence intervals of a demographic model
#'
#' `confint()` gives intervals of the parameters of [fit_demography()], and `profile()` the
#' likelihood along each of them: `confint(fit, bootstraps = attr(data, "bootstrap"))`.
#'
#' @details
#' **Wald intervals** are the estimate plus and minus a normal quantile times the standard error of
#' [vcov.demography_fit()]. With `log` they are symmetric on the logarithmic scale.
#'
#' **Profile intervals** contain the values at which twice the log-likelihood falls by less than the
#' chi-squared quantile with 1 degree of freedom. All other parameters are refitted at each value.
#' The intervals need not be symmetric. An interval that reaches a bound ends there. The end is `NA`
#' at a default bound, or where the model does not allow further values.
#'
#' Without `bootstraps` sites count as independent. With them, intervals are valid for linked sites:
#' Wald intervals use bootstrap standard errors, and profiles are scaled by the ratio of the
#' variances with and without `bootstraps`.
#'
#' @param object,fitted A `demography_fit`, as from [fit_demography()].
#' @param parm Names of fitted parameters; for Wald intervals also `"theta"`. `NULL` (the default):
#'   all that `method` has.
#' @param level Confidence level, 0.95 by default. A profile extends to this level on each side,
#'   0.99 by default.
#' @param method `"wald"` or `"profile"`. `NULL` (the default): profiles with `bootstraps`, unless
#'   `log` is `TRUE`, and Wald intervals without. In simulations of linked sites, profiles covered
#'   the truth more often than Wald intervals.
#' @param bootstraps As in [vcov.demography_fit()]; `NULL` (the default): independent sites.
#' @param log Whether to compute Wald intervals for logarithms; `FALSE` (the default).
#' @param BPPARAM A `BiocParallelParam`, whose workers share the profiles, each on one thread unless
#'   the fit had `threads`. `NULL` (the default): this session computes them one by one.
#' @param progress Whether to show the progress of the profiles. Default: only in interactive
#'   sessions.
#' @param x A profile, as from `profile()`.
#' @param ... Not used.
#' @return
#' * `confint()`: a matrix with a row for each parameter and the columns of both ends.
#' * `profile()`: a data frame of class `demography_profile` with a row for each point: `parameter`,
#'   its `value`, `log_likelihood`, the best values of all parameters, and `z`. `z` is the square
#'   root of twice the fall in log-likelihood, negative below the estimate. With `bootstraps`, this
#'   fall is divided by the ratio of the variances.
#' * `plot()`: `x`, invisibly. It draws the deviance, `z` squared, along each parameter, and its
#'   value at `level`.
#' @section Errors:
#' * `ancify_input_error`: `parm` names no parameter, `level` is not between 0 and 1, `log` is
#'   `TRUE` and a parameter is not above 0, or there are no standard errors.
#' * `ancify_package_error`: `BPPARAM` needs the package BiocParallel.
#' * `ancify_fit_warning`: a profile has a higher likelihood than the fit.
#' @references
#' Varin, Reid and Firth (2011) An overview of composite likelihood methods. Statistica Sinica 21:5.
#' @seealso [fit_demography()], [vcov.demography_fit()], [refit_demography()] for the bootstrap
#' @importFrom stats confint profile
#' @export
#' @examples
#' data <- sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI")
#' set.seed(1)
#' fit <- fit_demography(demography_model("two_epoch"), data, c(nu = 2, time = 0.1), starts = 3,
#'                       pts = c(20, 30))
#' confint(fit, log = TRUE)
#' along <- profile(fit, "nu", level = 0.9)
#' along
#' plot(along, level = 0.9)
confint.demography_fit <- function(object, parm = NULL, level = 0.95,
                                   method = NULL, bootstraps = NULL, log = FALSE,
                                   BPPARAM = NULL, progress = interactive(), ...) {
  check_method(
    level = check_level, log = flag(), method = optional(choice(c("wald", "profile")))
  )
  wald <- identical(method %||% if (is.null(bootstraps) || log) "wald" else "profile", "wald")
  has <- if (wald) names(all_estimates(object)) else object$fitted
  parm <- check_parm(parm, has)
  limits <- if (wald) {
    wald_ends(object, level, bootstraps, log)[parm, , drop = FALSE]
  } else {
    # Go a little further, so that the ends lie between points of the profile.
    far <- stats::pchisq(1.1 * stats::qchisq(level, 1), 1)
    along <- profile(object, parm, far, bootstraps, BPPARAM, progress)
    t(vapply(parm, function(name) profile_ends(object, along, name, level), c(0, 0)))
  }
  colnames(limits) <- tail_names(level)
  limits
}

wald_ends <- function(fit, level, bootstraps, log) {
  estimates <- if (log) log(positive_estimates(fit)) else all_estimates(fit)
  errors <- sqrt(diag(vcov(fit, bootstraps, log)))
  ends <- estimates + outer(errors, stats::qnorm(c(1 - level, 1 + level) / 2))
  if (log) exp(ends) else ends
}

# Points are so close that a spline through them has a much smaller error than the fit.
profile_ends <- function(fit, along, name, level) {
  space <- space_of_fit(fit, name)
  rows <- along[along$parameter == name, ]
  rows <- rows[!duplicated(rows$z), ]
  target <- sqrt(stats::qchisq(level, 1))
  value <- stats::splinefun(rows$z, to_scale(space, rows$value), "monoH.FC")
  ends <- from_scale(space, value(c(-target, target)))
  reached <- c(min(rows$z) <= -target, max(rows$z) >= target)
  bounds <- c(space$lower, space$upper)
  there <- abs(range(rows$value) - bounds) <= 1e-8 * abs(bounds)
  known <- there & fit$bounds[name, c("lower_of", "upper_of")] != "default"
  unname(ifelse(reached, ends, ifelse(known, bounds, NA)))
}

#' @rdname confint.demography_fit
#' @export
profile.demography_fit <- function(fitted, parm = NULL, level = 0.99, bootstraps = NULL,
                                   BPPARAM = NULL, progress = interactive(), ...) {
  check_method(level = check_level, progress = flag())
  parm <- check_parm(parm, fitted$fitted)
  if (!is.null(BPPARAM)) check_workers(BPPARAM, fitted$surface$settings$backend)
  far <- sqrt(stats::qchisq(level, 1))
  scale <- variance_ratios(fitted, parm, bootstraps)
  jobs <- lapply(seq_len(2 * length(parm)), function(i) {
    list(name = rep(parm, each = 2)[i], side = c(-1, 1)[2 - i %% 2])
  })
  rows <- over_parts(jobs, with_ancify(function(job) {
    profile_side(fitted, job$name, job$side, far, scale[[job$name]])
  }), BPPARAM, "Profiles", progress)
  table <- do.call(rbind, c(lapply(parm, estimate_row, fit = fitted), rows))
  table <- table[order(match(table$parameter, parm), table$value), ]
  rownames(table) <- NULL
  warn_of_better(fitted, max(table$log_likelihood))
  structure(table, fit = fitted, class = c("demography_profile", "data.frame"))
}

# The factor by which linkage inflates each parameter's variance.
variance_ratios <- function(fit, names, bootstraps) {
  if (is.null(bootstraps)) {
    return(stats::setNames(rep(1, length(names)), names))
  }
  diag(vcov(fit, bootstraps))[names] / diag(vcov(fit))[names]
}

estimate_row <- function(name, fit) {
  data.frame(parameter = name, value = coef(fit)[[name]], z = 0,
             log_likelihood = fit$log_likelihood, t(coef(fit)), row.names = NULL)
}

# A step of the profile raises z by about this share of its range.
z_step <- 1 / 4

# Points from the estimate to one side, until z is `far` or the bound is reached.
profile_side <- function(fit, name, side, far, scale) {
  space <- space_of_fit(fit)
  estimate <- to_scale(space, space$start)
  limit <- to_scale(space, if (side < 0) space$lower else space$upper)[[name]]
  others <- setdiff(fit$fitted, name)
  root <- function(log_likelihood) sqrt(2 * max(0, fit$log_likelihood - log_likelihood) / scale)
  last <- list(at = estimate, z = 0)
  drift <- 0 * estimate[others]
  step <- first_step(fit, estimate, name, side, limit, far, root)
  rows <- list()
  for (round in 1:30) {
    here <- last$at[[name]] + side * step
    here <- if (side < 0) max(here, limit) else min(here, limit)
    moved <- here - last$at[[name]]
    if (moved == 0 || last$z >= far) break
    guess <- replace(estimate, c(others, name), c(last$at[others] + drift * moved, here))
    guess <- pmin(pmax(from_scale(space, guess), space$lower), space$upper)
    found <- search_held(fit, guess[name], guess[others])
    z <- root(found$log_likelihood)
    if (is_at_wall(z, moved, here - estimate[[name]])) break
    if (is_too_far(z - last$z, far, round)) {
      step <- step / 3
      next
    }
    best <- c(found$params, guess[name])[fit$fitted]
    at <- to_scale(space, best)
    drift <- (at[others] - last$at[others]) / moved
    step <- abs(moved) * min(max(z_step * far / (z - last$z), 0.3), 2)
    last <- list(at = at, z = z)
    rows <- c(rows, list(data.frame(
      parameter = name, value = guess[[name]], z = side * z,
      log_likelihood = found$log_likelihood, t(best), row.names = NULL
    )))
  }
  do.call(rbind, rows)
}

# True if a short step leads to invalid parameters, for example by breaking a constraint of
# read_demes().
is_at_wall <- function(z, moved, way) is.infinite(z) && abs(moved) < 0.01 * abs(way)

is_too_far <- function(rise, far, round) {
  is.infinite(rise) || rise > 2.5 * z_step * far && round < 20
}

# The step that raises z enough with the other parameters fixed: a lower bound of the step sought.
first_step <- function(fit, estimate, name, side, limit, far, root) {
  space <- space_of_fit(fit)
  small <- if (space$logs[[name]]) 0.01 else 0.01 * max(abs(estimate[[name]]), 1e-3)
  small <- min(small, max(abs(limit - estimate[[name]]), 1e-12))
  near <- from_scale(space, replace(estimate, name, estimate[[name]] + side * small))
  z <- root(log_likelihoods_at(fit$surface, list(near)))
  if (is.finite(z) && z > 0) small * min(z_step * far / z, 100) else 10 * small
}

# The best log-likelihood with some parameters fixed.
search_held <- function(fit, held, start) {
  surface <- surface_with(fit$surface, held)
  if (!length(start)) {
    return(list(log_likelihood = log_likelihoods_at(surface, list(start)), params = start))
  }
  one_search(surface, space_of_fit(fit, names(start)), start)
}

# A profile may find a maximum that the searches missed.
warn_of_better <- function(fit, best) {
  if (best > fit$log_likelihood + 0.01) {
    warn_ancify(
      sprintf(
        "The profile has the log-likelihood %s, above the fit's %s: fit from its best values.",
        format(best, digits = 8), format(fit$log_likelihood, digits = 8)
      ),
      "fit"
    )
  }
}

#' @rdname confint.demography_fit
#' @export
plot.demography_profile <- function(x, level = 0.95, ...) {
  check_method(level = check_level)
  fit <- attr(x, "fit")
  parm <- unique(x$parameter)
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(parm)), mar = c(4, 4, 1, 1), las = 1)
  on.exit(graphics::par(old))
  for (name in parm) {
    space <- space_of_fit(fit, name)
    rows <- x[x$parameter == name & !duplicated(x[c("parameter", "z")]), ]
    logs <- space$logs[[name]]
    graphics::plot(rows$value, rows$z^2, log = if (logs) "x" else "", pch = 16, cex = 0.7,
                   xlab = name, ylab = "deviance", bty = "l")
    at <- seq(min(rows$z), max(rows$z), length.out = 100)
    value <- stats::splinefun(rows$z, to_scale(space, rows$value), "monoH.FC")(at)
    graphics::lines(from_scale(space, value), at^2)
    limit <- stats::qchisq(level, 1)
    graphics::abline(h = limit, lty = 2, col = "grey50")
    graphics::text(coef(fit)[[name]], limit, sprintf("%g %%", 100 * level), adj = c(-0.2, 1.4),
                   col = "grey50")
    graphics::abline(v = coef(fit)[[name]], col = "grey70")
  }
  invisible(x)
}
