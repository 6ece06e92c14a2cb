# Standard errors from a likelihood's curvature.

# Standard errors from the curvature at the maximum, the inverse of minus the second derivatives.
estimate_table <- function(x, space, slope, step = 1e-4) {
  table <- data.frame(
    parameter = names(space$start), estimate = unname(space$values(x)), std_error = NA_real_
  )
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

# The Jacobian by central differences: a row for each value, a column for each of `which`.
derivatives <- function(f, x, step, which = seq_along(x)) {
  columns <- lapply(which, function(i) {
    by <- replace(numeric(length(x)), i, step)
    (f(x + by) - f(x - by)) / (2 * step)
  })
  matrix(unlist(columns), ncol = length(which))
}

# The same by Richardson's extrapolation: the error falls as the fourth power of the step.
accurate_derivatives <- function(f, x, step) {
  (4 * derivatives(f, x, step) - derivatives(f, x, 2 * step)) / 3
}

# The second derivatives of a function with one value.
second_derivatives <- function(f, x, step) {
  values <- apply(stencil(length(x)) * step, 1, function(by) f(x + by))
  second_differences(values, rep(step, length(x)))
}

# Places for second differences of a function of n numbers, in steps. A row for the centre; one for
# each number up; one for each down; four for each pair: both up, one up, the other up, both down.
stencil <- function(n) {
  one <- diag(n)
  pairs <- lapply(pairs_of(n), function(pair) {
    a <- one[pair[1], ]
    b <- one[pair[2], ]
    rbind(a + b, a - b, b - a, -a - b)
  })
  rbind(0, one, -one, do.call(rbind, pairs))
}

pairs_of <- function(n) if (n > 1) utils::combn(n, 2, simplify = FALSE)

# A matrix of second derivatives, from values at the places of stencil().
second_differences <- function(values, step) {
  n <- length(step)
  second <- diag(own_second_differences(values, step), n)
  corners <- matrix(values[-seq_len(1 + 2 * n)], 4)
  for (k in seq_along(pairs_of(n))) {
    pair <- pairs_of(n)[[k]]
    mixed <- sum(corners[, k] * c(1, -1, -1, 1)) / (4 * prod(step[pair]))
    second[rbind(pair, rev(pair))] <- mixed
  }
  second
}

# Its diagonal, from the first 1 + 2 n values.
own_second_differences <- function(values, step) {
  n <- length(step)
  (values[1 + seq_len(n)] - 2 * values[1] + values[1 + n + seq_len(n)]) / step^2
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
# only the sum matters, or one along which the curvature is noise and not above 0.
inverse_curvature <- function(curvature) {
  bend <- diag(curvature)
  scale <- ifelse(bend > 0, 1 / sqrt(abs(bend)), 0)
  # LAPACK may search forever for eigenvalues of many orders of magnitude.
  scaled <- pmax(pmin(curvature * outer(scale, scale), 1), -1)
  parts <- eigen(scaled, symmetric = TRUE)
  flat <- parts$values <= 1e-7 * max(parts$values)
  sides <- t(parts$vectors[, !flat, drop = FALSE] * scale)
  inverse <- crossprod(sides, sides / parts$values[!flat])
  unknown <- rowSums(parts$vectors[, flat, drop = FALSE]^2) > 1e-6
  inverse[unknown, ] <- inverse[, unknown] <- NA
  inverse
}
