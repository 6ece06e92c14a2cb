# Estimates of the missing pairs of maps.

#' Complete distance maps
#'
#' `complete_maps(x, method)` estimates the distance of each missing pair. Observed pairs stay
#' unchanged.
#'
#' @details
#' | `method` | Distance of a missing pair |
#' | --- | --- |
#' | `"interpolate"` | distance in the [map_structures()], missing points lying between neighbours |
#' | `"lowrank"` | distance from the leading components, which all cells share |
#' | `"conditional"` | mean distance given the observed points, under a [polymer_model()] |
#'
#' **Interpolation.** A missing point lies on the straight line between its nearest observed
#' neighbours on the chain.
#'
#' A point beyond the first or last observed one has a neighbour on one side only. Kriging gives its
#' mean and variance from its separations to the observed points, and its distances are the expected
#' ones. Mean squared distances follow a power law of the separation, fitted to the observed pairs
#' of all cells. Each cell rescales the law to its own pairs up to 4 points apart. A warning counts
#' such points.
#'
#' **Conditional means.** Given the observed points, the missing points of a Gaussian chain are
#' normal. Along each axis their precision is the Laplacian's block of missing points. The mean
#' length of a normal vector has a closed form. For chains of this model no estimate has a smaller
#' mean squared error. For other chains it is a smoother interpolation.
#'
#' **Components.** A matrix of the given rank approximates the pairs x cells matrix, less its row
#' means. Missing entries are replaced by this approximation until they converge. The method needs
#' many similar cells.
#'
#' @param x A [distance_maps()] object.
#' @param method A row of the table; `"interpolate"` by default.
#' @param model A [polymer_model()], in the unit of the input. Only for `"conditional"`.
#' @param rank Number of components for `"lowrank"`; 10 by default.
#' @inheritParams distance_maps
#' @section Warnings:
#' `ancify_maps_warning`: with `"interpolate"`, points at an end of the chain were not observed.
#' Their distances are correct on average, but a cell's map does not determine their positions.
#' @return `x` without missing pairs. Its `mask` still marks the observed points.
#' @section Errors:
#' `ancify_input_error`: `model` is missing or has another number of points; for `"lowrank"`, `x`
#' has no more cells than `rank`, or a pair is missing in all cells.
#' @references
#' Mazumder, Hastie and Tibshirani (2010) Spectral regularization algorithms for learning large
#' incomplete matrices. Journal of Machine Learning Research 11:2287-2322.
#' @seealso [map_metrics()] for comparison with the truth
#' @export
#' @examples
#' model <- polymer_model(64, domains = c(20, 24, 20))
#' x <- simulate_polymers(50, model, seed = 1)
#' truth <- distance_maps(x)
#' given <- perturb_maps(x, missing = 0.1, seed = 2)
#' error <- function(done) mean(map_metrics(done, truth, given)$error)
#' error(complete_maps(given))
#' error(complete_maps(given, "conditional", model))
complete_maps <- function(x, method = c("interpolate", "lowrank", "conditional"), model = NULL,
                          rank = 10, threads = NULL) {
  check_args(x = check_maps, method = choice(names(completion_methods)))
  if (!anyNA(x$maps)) {
    return(x)
  }
  guess <- completion_methods[[method]](x, model, rank, new_work(threads))
  hidden <- is.na(x$maps)
  x$maps[hidden] <- guess[hidden]
  x
}

# Each function takes maps with missing pairs, `model`, `rank` and `work`; it returns pairs x
# cells.
completion_methods <- list(
  interpolate = function(x, model, rank, work) {
    found <- structures_of(x, work)
    warn_ends(found)
    interpolated_maps(x, found, work)
  },
  lowrank = function(x, model, rank, work) low_rank_maps(x, rank),
  conditional = function(x, model, rank, work) conditional_maps(x, model, work)
)

warn_ends <- function(found) {
  beyond <- colSums(apply(found[, 1, , drop = FALSE], 3, steps_beyond) > 0)
  if (any(beyond > 0)) {
    warn_ancify(
      sprintf(paste("Ends of the chain were not seen: %s in %s. Distances there are means by",
                    "separation; leave them out where contacts are counted."),
              count_of(sum(beyond), "point"), count_of(sum(beyond > 0), "cell")),
      "maps"
    )
  }
}

# The number of steps from each point back to the first or last observed one, 0 between them.
# `axis`: one coordinate of a cell's points.
steps_beyond <- function(axis) {
  seen <- range(which(!is.na(axis)))
  at <- seq_along(axis)
  pmax(seen[1] - at, at - seen[2], 0)
}

# Distances of the structures `found`. Missing points lie between their neighbours; points beyond
# the ends are kriged.
interpolated_maps <- function(x, found, work) {
  coordinates <- interpolated(found)
  maps <- measured(coordinates, work)$maps
  at <- map_pairs(x$points)
  square_of <- separation_law(x)
  for (cell in seq_along(x$cells)) {
    ends <- which(steps_beyond(found[, 1, cell]) > 0)
    if (length(ends) == 0) next
    seen <- which(!is.na(found[, 1, cell]))
    known <- kriged(ends, end_points(seen), found[, , cell], square_of)
    points <- coordinates[, , cell]
    points[ends, ] <- known$mean
    variance <- matrix(0, x$points, x$points)
    variance[ends, ends] <- known$variance * size_by_law(x$maps[, cell], at, square_of)
    pairs <- which(at$first %in% ends | at$second %in% ends)
    maps[pairs, cell] <- mean_lengths(points, variance, at$first[pairs], at$second[pairs])
  }
  maps
}

# The observed points nearest the ends; others add almost no information about points beyond them.
end_points <- function(seen) unique(c(utils::head(seen, 100), utils::tail(seen, 100)))

# Ordinary kriging of the points `at` from the points `by`: list(mean = at x 3, variance = at x at).
kriged <- function(at, by, points, square_of) {
  # The semivariance of two points along an axis
  semivariance <- function(i, j) square_of(abs(outer(i, j, `-`))) / 6
  n <- length(by)
  system <- rbind(cbind(semivariance(by, by), 1), c(rep(1, n), 0))
  wanted <- rbind(semivariance(by, at), 1)
  solved <- if (any(system[-(n + 1), -(n + 1)] > 0)) solve(system, wanted) else wanted / n
  weights <- solved[seq_len(n), , drop = FALSE]
  # The covariance of the kriging errors
  across <- crossprod(weights, semivariance(by, at))
  variance <- across + t(across) - semivariance(at, at) -
    crossprod(weights, semivariance(by, by) %*% weights)
  list(mean = crossprod(weights, points[by, , drop = FALSE]), variance = variance)
}

# The mean distances of points i and j, with mean coordinates `points` and this variance along each
# axis.
mean_lengths <- function(points, variance, i, j) {
  length <- sqrt(rowSums((points[i, , drop = FALSE] - points[j, , drop = FALSE])^2))
  spread <- variance[cbind(i, i)] + variance[cbind(j, j)] - 2 * variance[cbind(i, j)]
  mean_length(length, sqrt(pmax(spread, 0)))
}

# A power of 2 is a straight line, whose extrapolation would have no variance.
most_power <- 1.9

# The mean squared distance as a function of the separation: a power law, fitted to all cells.
separation_law <- function(x) {
  profile <- separation_profile(x)
  profile <- profile[profile$pairs > 0 & profile$mean_square > 0, ]
  if (nrow(profile) == 0) {
    return(function(separation) 0 * separation)
  }
  separation <- log(profile$separation)
  square <- log(profile$mean_square)
  centre <- stats::weighted.mean(separation, profile$pairs)
  power <- 1 # an ideal chain's, because one separation cannot determine it
  if (nrow(profile) > 1) {
    slope <- stats::weighted.mean((separation - centre) * square, profile$pairs) /
      stats::weighted.mean((separation - centre)^2, profile$pairs)
    power <- min(max(slope, 0), most_power)
  }
  level <- stats::weighted.mean(square, profile$pairs) - power * centre
  function(separation) {
    replace(exp(level + power * log(separation)), separation == 0, 0)
  }
}

# The squared distances of a cell's near pairs, relative to the law.
size_by_law <- function(map, at, square_of) {
  separation <- at$second - at$first
  near <- which(separation <= 4 & !is.na(map))
  ratio <- mean(map[near]^2 / square_of(separation[near]))
  if (is.finite(ratio)) ratio else 1
}

# Places missing points between their observed neighbours.
interpolated <- function(coordinates) {
  points <- seq_len(dim(coordinates)[1])
  for (cell in which(colSums(is.na(coordinates[, 1, , drop = FALSE])) > 0)) {
    seen <- which(!is.na(coordinates[, 1, cell]))
    for (axis in 1:3) {
      coordinates[, axis, cell] <-
        stats::approx(seen, coordinates[seen, axis, cell], points, rule = 2)$y
    }
  }
  coordinates
}

# ---- Gaussian chains ----------------------------------------------------------------------------

conditional_maps <- function(x, model, work) {
  refuse_if(is.null(model), "`method` \"conditional\" needs a `model`.")
  refuse_if(check_gaussian(model)$n != x$points, "`model` has %d points, but the maps have %d.",
            model$n, x$points)
  scale <- rep_len(x$scale, length(x))
  seen <- structures_of(x, work)
  maps <- measured(interpolated(seen), work)$maps
  precision <- laplacian(model)
  at <- map_pairs(x$points)
  for (cell in which(apply(is.na(seen), 3, any))) {
    mean <- seen[, , cell] * scale[cell]
    hidden <- which(is.na(mean[, 1]))
    variance <- matrix(0, x$points, x$points)
    covariance <- solve(precision[hidden, hidden])
    variance[hidden, hidden] <- covariance
    mean[hidden, ] <- -covariance %*% precision[hidden, -hidden] %*% mean[-hidden, , drop = FALSE]
    pairs <- which(at$first %in% hidden | at$second %in% hidden)
    maps[pairs, cell] <- mean_lengths(mean, variance, at$first[pairs], at$second[pairs]) /
      scale[cell]
  }
  maps
}

# The mean length of a normal vector in three dimensions whose mean has this length, with standard
# deviation s along each axis: (a + s^2 / a) erf(a / (s sqrt(2))) + s sqrt(2 / pi) exp(-a^2 / 2s^2).
mean_length <- function(a, s) {
  s <- pmax(s, 1e-9 * a, .Machine$double.xmin)
  ratio <- a / s
  # Near a = 0, where the formula divides by a, use the first terms of its series.
  inner <- ifelse(
    ratio > 1e-3, (ratio + 1 / ratio) * (2 * stats::pnorm(ratio) - 1), 2 * stats::dnorm(0)
  )
  s * (inner + 2 * stats::dnorm(ratio))
}

# ---- Components ---------------------------------------------------------------------------------

low_rank_maps <- function(x, rank) {
  check_whole_number(rank, "rank")
  refuse_if(length(x) <= rank,
            "`method` \"lowrank\" with `rank` %d needs more than %d cells, not %d.", rank, rank,
            length(x))
  hidden <- is.na(x$maps)
  unseen <- which(rowSums(!hidden) == 0)
  if (length(unseen)) {
    at <- map_pairs(x$points)
    refuse_input("No cell has the pair of points %d and %d: \"lowrank\" cannot complete it.",
                 at$first[unseen[1]], at$second[unseen[1]])
  }
  means <- rowMeans(x$maps, na.rm = TRUE)
  z <- x$maps - means
  z[hidden] <- 0
  axes <- first_axes(z, rank)
  for (round in seq_len(50)) {
    # One step of subspace iteration per round, because the matrix hardly changes between rounds
    axes <- qr.Q(qr(z %*% crossprod(z, axes)))
    fitted <- axes %*% crossprod(axes, z)
    change <- sqrt(mean((fitted[hidden] - z[hidden])^2))
    z[hidden] <- fitted[hidden]
    if (change < 1e-3 * sqrt(mean(z^2))) break
  }
  pmax(z + means, 0)
}
