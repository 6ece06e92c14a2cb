# Sums by group, and derivatives by differences.

# Sums of `values` by group, for the groups 1 to n.
rowsum_of <- function(values, group, n) {
  sums <- numeric(n)
  found <- rowsum(values, group)
  sums[as.integer(rownames(found))] <- found
  sums
}

# The Jacobian by central differences: a row for each value, and a column for each parameter in
# `which`.
derivatives <- function(f, x, step, which = seq_along(x)) {
  columns <- lapply(which, function(i) {
    by <- replace(numeric(length(x)), i, step)
    (f(x + by) - f(x - by)) / (2 * step)
  })
  matrix(unlist(columns), ncol = length(which))
}

# The Jacobian by Richardson extrapolation, whose error is of fourth order in the step.
accurate_derivatives <- function(f, x, step) {
  (4 * derivatives(f, x, step) - derivatives(f, x, 2 * step)) / 3
}

# The Hessian of a scalar function.
second_derivatives <- function(f, x, step) {
  values <- apply(stencil(length(x)) * step, 1, function(by) f(x + by))
  second_differences(values, rep(step, length(x)))
}

# Points for second differences of a function of n parameters, in steps. There is a row for the
# centre, a row for each parameter up, and a row for each down. Each pair has four rows: both up,
# the first up and the second down, the reverse, and both down.
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

# The matrix of second derivatives, from values at the points of stencil().
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

# The diagonal of this matrix, from the first 1 + 2 n values.
own_second_differences <- function(values, step) {
  n <- length(step)
  (values[1 + seq_len(n)] - 2 * values[1] + values[1 + n + seq_len(n)]) / step^2
}
