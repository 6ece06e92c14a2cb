# Missing pairs of maps: what can be said of them.

#' Complete distance maps
#'
#' `complete_maps(x, method)` gives each missing pair a distance. Pairs that were seen stay as they
#' are.
#'
#' @details
#' | `method` | Distance of a missing pair |
#' | --- | --- |
#' | `"interpolate"` | that of the map's [structures()], with missing points between neighbours |
#' | `"lowrank"` | that of the map's leading components, which all cells share |
#' | `"conditional"` | the mean distance given the points seen, for a `model` by [polymer_model()] |
#'
#' **Interpolation.** A missing point is on the straight line between its neighbours on the chain
#' that were seen. At the ends of the chain, it is at the nearest point seen.
#'
#' **Conditional means.** Given the points seen, the missing ones of a Gaussian chain are normal.
#' Along each axis their precision is the block of the Laplacian for missing points. The mean length
#' of a normal vector has a closed form. No other estimate has a smaller mean squared error, so this
#' is the bound for chains of that model. Elsewhere it is a smoother rule of interpolation.
#'
#' **Components.** The matrix of pairs x cells, less its row means, is brought near to one of the
#' given rank: missing entries take the values of its leading components until they converge. This
#' needs many similar cells.
#'
#' @param x A [distance_maps()] object.
#' @param method A row of the table; `"interpolate"` by default.
#' @param model A [polymer_model()], in the unit of the input. Only for `"conditional"`.
#' @param rank Number of components for `"lowrank"`; 10 by default.
#' @inheritParams distance_maps
#' @return `x` without missing pairs. Its `mask` still says which points were seen.
#' @section Errors:
#' `ancify_input_error`: `model` is missing or has another number of points; there are no more
#' cells than `rank`, or no cell has a pair that is missing, for `"lowrank"`.
#' @references
#' Mazumder, Hastie and Tibshirani (2010) Spectral regularization algorithms for learning large
#' incomplete matrices. Journal of Machine Learning Research 11:2287-2322.
#' @seealso [map_metrics()] to compare with the truth
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
  check_given()
  check_maps(x)
  method <- check_choice(method, names(completion_methods), "method")
  if (!anyNA(x$maps)) {
    return(x)
  }
  guess <- completion_methods[[method]](x, model, rank, threads)
  hidden <- is.na(x$maps)
  x$maps[hidden] <- guess[hidden]
  x
}

# Each takes maps with missing pairs, `model`, `rank` and `threads`; gives pairs x cells.
completion_methods <- list(
  interpolate = function(x, model, rank, threads) {
    measured(interpolated(structures(x, threads = threads)), threads)$maps
  },
  lowrank = function(x, model, rank, threads) low_rank_maps(x, rank),
  conditional = function(x, model, rank, threads) conditional_maps(x, model, threads)
)

# Missing points between their neighbours that were seen.
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

conditional_maps <- function(x, model, threads) {
  if (is.null(model)) abort_ancify("`method` \"conditional\" needs a `model`.", "input")
  if (check_gaussian(model)$n != x$points) {
    abort_ancify(
      sprintf("`model` has %d points, but the maps have %d.", model$n, x$points), "input"
    )
  }
  scale <- rep_len(x$scale, length(x))
  seen <- structures(x, threads = threads)
  maps <- measured(interpolated(seen), threads)$maps
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
    i <- at$first[pairs]
    j <- at$second[pairs]
    length <- sqrt(rowSums((mean[i, , drop = FALSE] - mean[j, , drop = FALSE])^2))
    spread <- sqrt(variance[cbind(i, i)] + variance[cbind(j, j)] - 2 * variance[cbind(i, j)])
    maps[pairs, cell] <- mean_length(length, spread) / scale[cell]
  }
  maps
}

# The mean length of a normal vector in three dimensions whose mean has this length, with standard
# deviation s along each axis: (a + s^2 / a) erf(a / (s sqrt(2))) + s sqrt(2 / pi) exp(-a^2 / 2s^2).
mean_length <- function(a, s) {
  ratio <- a / s
  # Near 0, where a divides, the series' first terms.
  inner <- ifelse(
    ratio > 1e-3, (ratio + 1 / ratio) * (2 * stats::pnorm(ratio) - 1), 2 * stats::dnorm(0)
  )
  s * (inner + 2 * stats::dnorm(ratio))
}

# ---- Components ---------------------------------------------------------------------------------

low_rank_maps <- function(x, rank) {
  check_whole_number(rank, "rank")
  if (length(x) <= rank) {
    abort_ancify(
      sprintf("`method` \"lowrank\" with `rank` %d needs more than %d cells, not %d.", rank, rank,
              length(x)),
      "input"
    )
  }
  hidden <- is.na(x$maps)
  unseen <- which(rowSums(!hidden) == 0)
  if (length(unseen)) {
    at <- map_pairs(x$points)
    abort_ancify(
      sprintf("No cell has the pair of points %d and %d: \"lowrank\" cannot complete it.",
              at$first[unseen[1]], at$second[unseen[1]]),
      "input"
    )
  }
  means <- rowMeans(x$maps, na.rm = TRUE)
  z <- x$maps - means
  z[hidden] <- 0
  axes <- first_axes(z, rank)
  for (round in seq_len(50)) {
    # A step of subspace iteration for each round, as the matrix hardly changes between two
    axes <- qr.Q(qr(z %*% crossprod(z, axes)))
    fitted <- axes %*% crossprod(axes, z)
    change <- sqrt(mean((fitted[hidden] - z[hidden])^2))
    z[hidden] <- fitted[hidden]
    if (change < 1e-3 * sqrt(mean(z^2))) break
  }
  pmax(z + means, 0)
}
