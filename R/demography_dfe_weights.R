# Weights of computed spectra, whose weighted sum is the spectrum under a distribution.

# Integration steps between two computed coefficients.
places_between <- 20

# The weight of each coefficient's spectrum, or of each pair's spectrum with `pairs`. `interpolate`:
# spline_of or linear_of.
dfe_weights <- function(dfe, gammas, pairs, interpolate) {
  Reduce(`+`, lapply(dfe$parts, function(part) {
    kind <- part_kinds()[[intersect(names(part), names(part_kinds()))]]
    refuse_if(kind$pairs && !pairs,
              "The DFE %s is for two populations: use spectra of selected_spectra(pairs = TRUE).",
              part$name)
    weights <- kind$weights(part[[kind$field]], gammas, interpolate)
    # The same coefficient in both populations
    if (pairs && !kind$pairs) weights <- diag(weights, length(gammas))
    part$share * c(weights)
  }))
}

# A row for each kind of part, named by its field: the function weights(value of the field, gammas,
# interpolate), and true if it returns a matrix for pairs. A function, because R loads some of these
# functions later.
part_kinds <- function() {
  kind <- function(field, weights, pairs = FALSE) as.list(environment())
  kinds <- list(
    kind("cumulative", distribution_weights), kind("gamma", point_weights),
    kind("both", independent_weights, TRUE), kind("normal", binormal_weights, TRUE)
  )
  stats::setNames(kinds, vapply(kinds, `[[`, "", "field"))
}

# Each place takes half of the probability up to its neighbours. So all probability counts, even
# where the density is unbounded.
distribution_weights <- function(cumulative, gammas, interpolate = spline_of) {
  strengths <- log(-gammas[gammas < 0])
  check_interpolated(strengths)
  n <- length(strengths)
  places <- stats::approx(seq_len(n), strengths, n = (n - 1) * places_between + 1)$y
  shares <- abs(diff(cumulative(exp(places))))
  at_places <- (c(shares, 0) + c(0, shares)) / 2
  of_knots <- c(at_places %*% interpolate(strengths, places))
  weights <- replace(numeric(length(gammas)), seq_len(n), of_knots)
  weights[1] <- weights[1] + 1 - cumulative(exp(strengths[1]))
  neutral <- which(gammas == 0)
  weights[neutral] <- weights[neutral] + cumulative(exp(strengths[n]))
  weights
}

point_weights <- function(gamma, gammas, interpolate) {
  computed <- gammas == gamma
  if (any(computed)) {
    return(as.double(computed))
  }
  weakest <- max(gammas[gammas < 0], -Inf)
  refuse_if(gamma > 0 || gamma < gammas[1] || !is.finite(weakest),
            "The selection coefficient %s must be one of the computed `gammas`.", format(gamma))
  weights <- numeric(length(gammas))
  if (gamma > weakest) {
    weights[gammas == weakest] <- gamma / weakest
    weights[gammas == 0] <- 1 - gamma / weakest
    return(weights)
  }
  strengths <- log(-gammas[gammas < 0])
  check_interpolated(strengths)
  replace(weights, seq_along(strengths), interpolate(strengths, log(-gamma)))
}

check_interpolated <- function(strengths) {
  refuse_if(length(strengths) < 4,
            "A DFE needs spectra of at least 4 negative selection coefficients, but there %s.",
            if (length(strengths) == 1) "is 1" else paste("are", length(strengths)))
  gaps <- -diff(strengths)
  if (max(gaps) > log(4) + 1e-9) {
    k <- which.max(gaps)
    refuse_input(
      "The selection coefficients %s and %s are too far apart: `gammas` must be at most a factor of 4 apart.", # nolint: line_length_linter.
      format(-exp(strengths[k]), digits = 4), format(-exp(strengths[k + 1]), digits = 4)
    )
  }
}

# The weight of each knot in the value interpolated at each place: a row for each place.
spline_of <- function(knots, places) {
  vapply(seq_along(knots), function(k) {
    stats::spline(knots, as.double(seq_along(knots) == k), xout = places, method = "natural")$y
  }, places)
}

linear_of <- function(knots, places) {
  vapply(seq_along(knots), function(k) {
    stats::approx(knots, as.double(seq_along(knots) == k), xout = places, rule = 2)$y
  }, places)
}

# ---- Pairs ---------------------------------------------------------------------------------------

independent_weights <- function(both, gammas, interpolate) {
  tcrossprod(dfe_weights(both$first, gammas, FALSE, interpolate),
             dfe_weights(both$second, gammas, FALSE, interpolate))
}

# Cells between two computed coefficients
cells_between <- 10

# Let x and y be the logarithms of the strengths in the two populations. Each cell of x puts its
# probability at its mean. Given this x, y has a normal distribution. A y between two edges is
# divided between them so that its mean is right, even with a correlation of 1 or -1.
binormal_weights <- function(normal, gammas, interpolate) {
  strengths <- log(-gammas[gammas < 0])
  check_interpolated(strengths)
  n <- length(strengths)
  edges <- stats::approx(seq_len(n), strengths, n = (n - 1) * cells_between + 1)$y
  # Beyond the ends, x still needs many cells, as y depends on it; y needs one at each end.
  widest <- normal$mean[1] + c(9, -9) * normal$sd[1]
  above <- edges_beyond(widest[1], edges[1], TRUE)
  below <- rev(edges_beyond(widest[2], edges[length(edges)], FALSE))
  x <- normal_cells(c(above, edges, below), normal$mean[1], normal$sd[1])
  slope <- normal$correlation * normal$sd[2] / normal$sd[1]
  expected <- normal$mean[2] + slope * (c(x$mean) - normal$mean[1])
  spread <- normal$sd[2] * sqrt(max(1 - normal$correlation^2, 1e-18))
  of_y <- c(x$probability) * shares_of_edges(edges, expected, spread)
  knots <- function(places, n_above, n_below) {
    end <- function(which, times) matrix(as.double(gammas == which), times, length(gammas), TRUE)
    rest <- matrix(0, length(places), length(gammas) - n)
    rbind(end(gammas[1], n_above), cbind(interpolate(strengths, places), rest), end(0, n_below))
  }
  inside <- x$mean[length(above) + seq_len(length(edges) - 1)]
  crossprod(knots(inside, length(above), length(below)), of_y %*% knots(edges, 1, 1))
}

# The probability and the mean of each cell between falling `edges`: matrices with a row for each
# normal distribution.
normal_cells <- function(edges, mean, sd) {
  of_cells <- function(at_edge) {
    values <- matrix(vapply(edges, at_edge, mean, mean, sd), length(mean))
    values[, -ncol(values), drop = FALSE] - values[, -1, drop = FALSE]
  }
  probability <- of_cells(stats::pnorm)
  moment <- mean * probability - sd^2 * of_cells(stats::dnorm)
  # Rounding must not move the mean of a nearly empty cell out of it.
  limit <- function(edges) rep(edges, each = length(mean))
  means <- pmin(pmax(moment / pmax(probability, 1e-300), limit(edges[-1])),
                limit(edges[-length(edges)]))
  list(probability = probability, mean = matrix(means, length(mean)))
}

# A row for each normal distribution: the probability above all edges, the shares of the edges, and
# the probability below all edges. Probability between two edges goes mostly to the nearer one.
shares_of_edges <- function(edges, mean, sd) {
  cells <- normal_cells(c(Inf, edges, -Inf), mean, sd)
  n <- ncol(cells$probability)
  between <- cells$probability[, -c(1, n), drop = FALSE]
  widths <- rep(-diff(edges), each = length(mean))
  upper <- between * (cells$mean[, -c(1, n)] - rep(edges[-1], each = length(mean))) / widths
  cbind(cells$probability[, 1], cbind(upper, 0) + cbind(0, between - upper), cells$probability[, n])
}

# A hundred cells from `far` to `end`. They are empty unless `far` lies beyond `end`.
edges_beyond <- function(far, end, is_above) {
  seq(if (is_above) max(far, end) else min(far, end), end, length.out = 101)[-101]
}
