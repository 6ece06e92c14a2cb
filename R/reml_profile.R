#' Compute confidence intervals of a fit
#'
#' Computes intervals for variances, h2 and fixed effects: `confint(fit)`. Profile intervals of
#' variances, by `method = "profile"`, respect the bound at 0 and need not be symmetric.
#'
#' @details
#' **Wald intervals** are the estimate plus and minus the standard error times a normal quantile.
#' They are unreliable near a bound, and `NA` at it.
#'
#' **Profile intervals** use the log-likelihood maximised over all other variances. They contain the
#' values at which twice its decrease is below a chi-squared quantile with 1 degree of freedom. They
#' need the exact path. An interval that reaches the bound ends there.
#'
#' @param object A fit of [fit_reml()].
#' @param parm Names of components, `"h2"` or names of fixed effects. Default: all parameters of
#'   `method`.
#' @param level Confidence level, 0.95 by default.
#' @param method `"wald"` (the default), or `"profile"` for components only.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @param ... Not used.
#' @return A matrix with a row for each parameter and the columns of the lower and the upper end.
#' @section Errors:
#' * `ancify_input_error`: `parm` names no parameter, `level` is not between 0 and 1, or a profile
#'   is requested of a stochastic fit.
#' * `ancify_file_error`: the fit's genotypes are missing or were changed.
#' * `ancify_fit_warning`: a profile has a higher likelihood than the fit.
#' @seealso [fit_reml()], [`plot()`][plot.reml_fit] for plots of profiles
#' @importFrom stats confint
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' fit <- fit_reml(y ~ 1, data, kernels = list(family = kernel), threads = 1)
#' confint(fit)
#' confint(fit, method = "profile")
confint.reml_fit <- function(object, parm = NULL, level = 0.95, method = c("wald", "profile"),
                             progress = interactive(), ...) {
  check_method(method = choice(c("wald", "profile")), level = check_level)
  wald <- identical(method, "wald")
  components <- names(object$theta)
  has <- if (wald) c(components, "h2", names(object$coefficients)) else components
  # A fixed effect may have the name of a component.
  rows <- if (is.null(parm)) {
    seq_along(has)
  } else {
    unlist(lapply(unique(check_parm(parm, has)), function(name) which(has == name)))
  }
  limits <- if (wald) {
    wald_limits(object, level)[rows, , drop = FALSE]
  } else {
    profile_limits(object, has[rows], level, work_of(object, progress))
  }
  colnames(limits) <- tail_names(level)
  limits
}

wald_limits <- function(fit, level) {
  table <- rbind(
    data.frame(estimate = fit$theta, delta_errors(fit, diag(length(fit$theta)))),
    h2 = variance_shares(fit)["h2", ]
  )
  table$se[which(fit$at_bound)] <- NA
  estimate <- c(stats::setNames(table$estimate, rownames(table)), fit$coefficients)
  se <- c(table$se, sqrt(diag(fit$coefficients_covariance)))
  cbind(estimate, estimate) + outer(se, stats::qnorm(c(1 - level, 1 + level) / 2))
}

# ---- Profiles ------------------------------------------------------------------------------------

# The log-likelihood with theta[component[i]] fixed at value[i], maximised over all other variances:
# list(log_likelihood =, theta = a column for each value). `slope`: expected derivatives of all
# variances with respect to that one, a column for each value.
profile_at <- function(fit, component, value, slope, work) {
  lower <- profile_bounds(fit)
  here <- pmax(fit$theta + t(t(slope) * (value - fit$theta[component])), lower)
  here[cbind(component, seq_along(component))] <- value
  found <- likelihoods_at(fit, here, work)
  scale <- rep(1, length(value))
  for (round in 1:60) {
    steps <- Map(profile_step, found, asplit(here, 2), list(lower), component)
    open <- which(vapply(steps, `[[`, 0, "decrement") > 1e-7 & scale > 1e-6)
    if (!length(open)) break
    next_places <- vapply(open, function(i) {
      pmax(here[, i] + scale[i] * steps[[i]]$step, lower)
    }, lower)
    tried <- likelihoods_at(fit, next_places, work)
    better <- vapply(tried, `[[`, 0, "log_likelihood") >=
      vapply(found[open], `[[`, 0, "log_likelihood")
    here[, open[better]] <- next_places[, better]
    found[open[better]] <- tried[better]
    scale[open] <- ifelse(better, 1, scale[open] / 4)
  }
  list(log_likelihood = vapply(found, `[[`, 0, "log_likelihood"), theta = here)
}

# A Newton step in the free variances: not at a bound, and not the profiled one.
profile_step <- function(found, theta, lower, fixed) {
  free <- !(theta <= lower & found$score <= 0)
  free[fixed] <- FALSE
  step <- theta * 0
  if (any(free)) {
    step[free] <- newton_direction(found$information[free, free, drop = FALSE], found$score[free])
  }
  list(step = step, decrement = sum(step * found$score))
}

# Derivatives of the maximising variances with respect to one variance, at the estimate.
profile_slope <- function(fit, component) {
  free <- !fit$at_bound
  free[component] <- FALSE
  slope <- replace(fit$theta * 0, component, 1)
  if (any(free)) {
    slope[free] <- -newton_direction(
      fit$information[free, free, drop = FALSE], fit$information[free, component]
    )
  }
  slope
}

# solve(), or each variance by its own curvature if the information is singular.
newton_direction <- function(information, score) {
  tryCatch(solve(information, score), error = function(condition) {
    score / pmax(diag(information), 1e-300)
  })
}

# A profile may find a maximum that the search has missed.
warn_of_higher <- function(fit, best) {
  if (best > fit$log_likelihood + 1e-4) {
    warn_ancify(
      sprintf(
        "The profile has a log-likelihood of %s, above the fit's %s: fit again from another %s.",
        format(best, digits = 8), format(fit$log_likelihood, digits = 8), "`start`"
      ),
      "fit"
    )
  }
}

# The fit's bounds; residuals stay above 0.
profile_bounds <- function(fit) {
  lower <- stats::setNames(fit$control$lower, names(fit$theta))
  least <- 1e-6 * sum(fit$theta * fit$mean_diagonal)
  residual <- is_residual(names(lower))
  lower[residual] <- pmax(lower[residual], least, na.rm = TRUE)
  lower
}

check_exact <- function(fit) {
  refuse_if(fit$path != "exact",
            "A profile needs the exact maximum of the likelihood: fit by `method = \"exact\"`.")
}

# Limits by the secant method on the square root of the deviance, which is nearly linear. All limits
# are searched together, as one reduction of the kernels serves many values.
profile_limits <- function(fit, components, level, work) {
  check_exact(fit)
  target <- sqrt(stats::qchisq(level, 1))
  component <- rep(match(components, names(fit$theta)), 2)
  side <- rep(c(-1, 1), each = length(components))
  estimate <- fit$theta[component]
  lower <- profile_bounds(fit)[component]
  slope <- vapply(component, function(k) profile_slope(fit, k), fit$theta)
  # Start from the Wald interval, by the curvature along the profile.
  reach <- target / sqrt(pmax(colSums(slope * (fit$information %*% slope)), 1e-300))
  value <- pmax(estimate + side * reach, lower)
  # The last value inside the interval
  inside <- list(value = estimate, root = 0 * estimate)
  open <- which(value != estimate)
  best <- fit$log_likelihood
  for (round in 1:40) {
    if (!length(open)) break
    found <- profile_at(fit, component[open], value[open], slope[, open, drop = FALSE], work)
    best <- max(best, found$log_likelihood)
    root <- sqrt(pmax(2 * (fit$log_likelihood - found$log_likelihood), 0))
    away <- value[open] - estimate[open]
    slope[, open] <- t(t(found$theta - fit$theta) / away)
    is_done <- abs(root - target) < 1e-4 * target | (value[open] <= lower[open] & root <= target)
    left <- !is_done
    rate <- (root - inside$root[open]) / (value[open] - inside$value[open])
    move <- (value[open] + (target - root) / rate - estimate[open]) / away
    # Move at most to twice the distance from the estimate, even if the likelihood is flat.
    move <- ifelse(is.finite(move), pmin(pmax(move, 0.1), 2), 2)
    short <- root < target
    inside$value[open[short]] <- value[open[short]]
    inside$root[open[short]] <- root[short]
    open <- open[left]
    value[open] <- pmax(estimate[open] + (move * away)[left], lower[open])
  }
  warn_of_higher(fit, best)
  matrix(value, ncol = 2, dimnames = list(components, NULL))
}
