# Standard errors from a likelihood's curvature.

# Standard errors from the curvature at the maximum: the covariance is the inverse of minus the
# second derivatives.
estimate_table <- function(x, space, slope) {
  table <- data.frame(
    parameter = names(space$start), estimate = unname(space$values(x)), std_error = NA_real_
  )
  step <- 1e-4
  free <- which(x > space$lower + 1e-3 & x < space$upper - 1e-3)
  if (length(free) == 0) {
    return(table)
  }
  curvature <- -derivatives(function(x) slope(x)$gradient, x, step, free)[free, , drop = FALSE]
  covariance <- inverse_curvature((curvature + t(curvature)) / 2)
  jacobian <- derivatives(space$values, x, step, free)
  table$std_error <- propagated_errors(jacobian, covariance)
  table$std_error[-free] <- NA
  table
}

# Standard errors of values (rows of the Jacobian) from the parameters' covariance. NA if the value
# depends on a parameter of unknown variance.
propagated_errors <- function(jacobian, covariance) {
  variances <- apply(jacobian, 1, function(slopes) {
    on <- slopes != 0
    sum(outer(slopes[on], slopes[on]) * covariance[on, on])
  })
  sqrt(ifelse(variances > 0, variances, NA))
}

# The inverse. NA for parameters that the data do not determine, such as two branch lengths of which
# only the sum matters, or a parameter whose curvature is noise and not above 0.
inverse_curvature <- function(curvature) {
  bend <- diag(curvature)
  scale <- ifelse(bend > 0, 1 / sqrt(abs(bend)), 0)
  # LAPACK may not terminate if eigenvalues span many orders of magnitude.
  scaled <- pmax(pmin(curvature * outer(scale, scale), 1), -1)
  parts <- eigen(scaled, symmetric = TRUE)
  flat <- parts$values <= 1e-7 * max(parts$values)
  sides <- t(parts$vectors[, !flat, drop = FALSE] * scale)
  inverse <- crossprod(sides, sides / parts$values[!flat])
  unknown <- rowSums(parts$vectors[, flat, drop = FALSE]^2) > 1e-6
  inverse[unknown, ] <- inverse[, unknown] <- NA
  inverse
}
