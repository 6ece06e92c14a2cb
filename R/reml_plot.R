#' Plot a REML fit
#'
#' Draws the components of a fit with both errors, the path of its search, or profiles of its
#' likelihood.
#'
#' @details
#' | `type` | Picture |
#' | --- | --- |
#' | `"components"` | shares of the variance; bars of two standard and two Monte Carlo errors |
#' | `"trace"` | the variances along the search |
#' | `"profile"` | twice the decrease in log-likelihood around each variance, and its 95 % limit |
#'
#' @param x A fit of [fit_reml()].
#' @param type `"components"` (the default), `"trace"` or `"profile"`.
#' @param main A title. `NULL` (the default): none.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: the fit of a profile took the stochastic path.
#' * `ancify_file_error`: the fit's genotypes are missing or were changed.
#' @seealso [fit_reml()], [confint.reml_fit()]
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' fit <- fit_reml(y ~ 1, data, kernels = list(family = kernel), threads = 1)
#' plot(fit)
#' plot(fit, type = "profile")
plot.reml_fit <- function(x, type = c("components", "trace", "profile"), main = NULL, ...) {
  check_method(type = choice(c("components", "trace", "profile")))
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old))
  graphics::par(fit_lines)
  top <- if (is.null(main)) 1 else 3
  switch(
    type,
    components = draw_shares(variance_shares(x), has_random_error(x), top),
    trace = draw_trace(x, top),
    profile = draw_profiles(x, top)
  )
  graphics::title(main, outer = type == "profile", line = if (type == "profile") -1.5)
  invisible(x)
}

fit_lines <- list(las = 1, mgp = c(2.4, 0.6, 0), tcl = -0.3)
fit_colours <- c(sampling = "#3b6a9c", randomisation = "#cf4a67")

# A row for each of `shares`: bars of both errors, one below the other. `random`: whether there are
# random errors.
draw_shares <- function(shares, random, top) {
  rows <- rev(seq_len(nrow(shares)))
  offset <- if (random) 0.15 else 0
  graphics::par(mar = c(4, 4, top + 1.5, 1))
  size <- size_of_rows(length(rows))
  graphics::par(mar = c(4, max(nchar(rownames(shares))) * 0.55 * size + 1.5, top + 1.5, 1))
  ends <- shares$estimate + outer(2 * shares$se, c(-1, 1))
  graphics::plot.new()
  ticks <- pretty(c(0, ends[is.finite(ends)], shares$estimate))
  graphics::plot.window(range(ticks), range(rows) + c(-0.5, 0.5))
  graphics::abline(v = 0, col = "grey60")
  draw_error <- function(error, at, colour) {
    known <- which(is.finite(error) & error > 0)
    graphics::segments(
      (shares$estimate - 2 * error)[known], at[known], (shares$estimate + 2 * error)[known],
      at[known], lwd = 4 * size, lend = 1, col = colour
    )
  }
  draw_error(shares$se, rows + offset, fit_colours[["sampling"]])
  if (random) draw_error(shares$mc_se, rows - offset, fit_colours[["randomisation"]])
  graphics::points(
    shares$estimate, rows + offset, pch = ifelse(is.na(shares$se), 1, 19), cex = 0.8 * size
  )
  graphics::axis(1, ticks)
  # An axis would leave out labels that are close.
  graphics::mtext(rownames(shares), 2, 0.6, at = rows, cex = size * graphics::par("cex"))
  graphics::title(xlab = "share of the variance")
  usr <- graphics::par("usr")
  graphics::legend(
    mean(usr[1:2]), usr[4], c("2 standard errors", if (random) "2 random errors"), horiz = TRUE,
    xjust = 0.5, yjust = 0, bty = "n", lwd = 4, xpd = NA, col = fit_colours[seq_len(1 + random)]
  )
}

# The path of each variance; a dashed line for the estimate.
draw_trace <- function(fit, top) {
  graphics::par(mar = c(4, 5, top, max(nchar(names(fit$theta))) * 0.55 + 3))
  thetas <- as.matrix(fit$iterations[names(fit$theta)])
  steps <- fit$iterations$iteration
  colours <- grDevices::hcl.colors(ncol(thetas), "Dark 3")
  graphics::matplot(
    steps, thetas, type = "o", pch = 19, cex = 0.6, lty = 1, col = colours, xlab = "step",
    ylab = "variance", ylim = range(0, thetas), xaxt = "n", bty = "n"
  )
  graphics::axis(1, unique(round(pretty(steps))))
  graphics::abline(h = fit$theta, lty = 2, col = colours)
  usr <- graphics::par("usr")
  graphics::legend(usr[2], usr[4], names(fit$theta), bty = "n", lty = 1, pch = 19, col = colours,
                   xpd = NA)
}

draw_profiles <- function(fit, top) {
  check_exact(fit)
  places <- 9
  k <- length(fit$theta)
  reach <- 3 / sqrt(pmax(vapply(seq_len(k), function(i) {
    slope <- profile_slope(fit, i)
    drop(slope %*% fit$information %*% slope)
  }, 0), 1e-300))
  values <- vapply(seq_len(k), function(i) {
    seq(max(fit$theta[[i]] - reach[i], profile_bounds(fit)[[i]]), fit$theta[[i]] + reach[i],
        length.out = places)
  }, numeric(places))
  component <- rep(seq_len(k), each = places)
  slope <- vapply(component, function(i) profile_slope(fit, i), fit$theta)
  found <- profile_at(fit, component, as.vector(values), slope, work_of(fit))
  warn_of_higher(fit, max(found$log_likelihood))
  deviance <- matrix(2 * (fit$log_likelihood - found$log_likelihood), places)
  graphics::par(mfrow = grDevices::n2mfrow(k), mar = c(4, 4, 1.5, 1), oma = c(0, 0, top - 1, 0))
  for (i in seq_len(k)) {
    graphics::plot(
      stats::spline(values[, i], deviance[, i], 100), type = "l", bty = "n", ylim = c(0, 9),
      col = fit_colours[["sampling"]], lwd = 2, xlab = names(fit$theta)[i],
      ylab = "fall of 2 log-likelihood"
    )
    graphics::abline(h = stats::qchisq(0.95, 1), lty = 2)
    graphics::points(fit$theta[[i]], 0, pch = 19)
  }
}
