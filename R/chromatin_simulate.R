# Simulated polymers, and simulated errors of microscopy.

#' Simulate polymers
#'
#' `simulate_polymers(cells, model)` draws structures from a model, or from several models that
#' define classes of cells. [distance_maps()] and [perturb_maps()] accept the structures.
#'
#' @param cells Number of cells.
#' @param model The result of [polymer_model()] or [self_avoiding_model()], or a list of such models
#'   with the same number of points. The names of the list are the classes. Default: an ideal chain
#'   of 64 points.
#' @param seed A whole number above 0 that makes the draws repeatable; the session's random state
#'   stays unchanged. `NULL` (the default): draws use the session's random numbers.
#' @inheritParams distance_maps
#' @return An array of points x 3 x cells, with each cell centred at 0. With a list of models, cells
#'   alternate between them; the attribute `model` is a factor of their names.
#' @section Errors:
#' `ancify_input_error`: `model` is no model, or models differ in their number of points.
#' @seealso [polymer_model()], [perturb_maps()]
#' @export
#' @examples
#' x <- simulate_polymers(
#'   6, list(two = polymer_model(40, c(20, 20)), three = polymer_model(40, c(10, 20, 10))), seed = 1
#' )
#' attr(x, "model")
#' distance_maps(x)
simulate_polymers <- function(cells, model = polymer_model(), seed = NULL, threads = NULL) {
  check_args(cells = whole())
  models <- if (inherits(model, "polymer_model")) list(model) else model
  if (!is.list(models) || length(models) == 0) check_polymer_model(model, "model")
  for (one in models) check_polymer_model(one, "model")
  n <- vapply(models, `[[`, 0, "n")
  refuse_if(any(n != n[1]), "All of `model` must have the same number of points, not %s.",
            enumerate(unique(n)))
  if (!is.null(seed)) check_whole_number(seed, "seed")
  work <- new_work(threads)
  labels <- names_or_numbers(names(models), length(models))
  # Levels in the order of the models
  class_of <- factor(rep_len(labels, cells), unique(labels))
  turn <- rep_len(seq_along(models), cells)
  out <- array(0, c(n[1], 3, cells), list(NULL, c("x", "y", "z"), NULL))
  seeded(seed, for (k in unique(turn)) {
    draw <- switch(models[[k]]$kind, gaussian = draw_gaussian, self_avoiding = draw_self_avoiding)
    out[, , turn == k] <- draw(models[[k]], sum(turn == k), work)
  })
  if (length(models) > 1) attr(out, "model") <- class_of
  out
}

# If LL' is the precision along an axis and z is standard normal, L'^-1 z has the right covariance.
draw_gaussian <- function(model, cells, work) {
  factor <- chol(centred_precision(model))
  x <- backsolve(factor, matrix(stats::rnorm(model$n * 3 * cells), model$n))
  x - rep(colMeans(x), each = model$n)
}

draw_self_avoiding <- function(model, cells, work) {
  seed <- floor(stats::runif(1) * 2^32)
  x <- with_watch("Moving", function(watch) {
    chain <- core_list(
      "SelfAvoidingModel",
      points = model$n, diameter = model$diameter, radius = model$radius, moves = model$moves
    )
    self_avoiding_impl(cells, chain, seed, work, watch)
  })
  dim(x) <- c(model$n, 3 * cells)
  x - rep(colMeans(x), each = model$n)
}

#' Perturb structures
#'
#' `perturb_maps(x)` simulates errors of microscopy: it moves points in space or removes them, then
#' computes the distances. All perturbed maps therefore satisfy the triangle inequality.
#'
#' @param x Coordinates: an array of points x 3 x cells, such as from [simulate_polymers()]. Or a
#'   [distance_maps()] object, whose [map_structures()] are perturbed.
#' @param noise Standard deviation of a normal error along each axis, in the unit of `x`; 0 by
#'   default.
#' @param outliers Share of each cell's points that are false spots; 0 by default. They move by a
#'   normal step whose standard deviation along each axis is the cell's radius of gyration.
#' @param missing Share of each cell's points that are removed, none of them outliers; 0 by default.
#' @inheritParams simulate_polymers
#' @details Shares are of all points, rounded to whole points in each cell.
#' @return A [distance_maps()] object. With `outliers`, its element `outliers` is a logical matrix
#'   of points x cells, `TRUE` for moved points.
#' @section Errors:
#' `ancify_input_error`: `noise` is negative, a share is outside 0 to 1, or fewer than four points
#' would stay unchanged. Or no cell would have two observed points left.
#' @seealso [complete_maps()], [denoise_maps()], [outlier_scores()]
#' @export
#' @examples
#' x <- simulate_polymers(10, seed = 1)
#' given <- perturb_maps(x, noise = 0.1, outliers = 0.05, missing = 0.1, seed = 2)
#' given
#' colSums(given$outliers)
perturb_maps <- function(x, noise = 0, outliers = 0, missing = 0, seed = NULL, threads = NULL) {
  check_given()
  work <- new_work(threads)
  scale <- 1
  each <- FALSE
  if (inherits(x, "distance_maps")) {
    scale <- x$scale
    each <- is_each(x)
    x <- structures_of(x, work)
  } else {
    x <- as_cell_array(x)
    check_points(dim(x)[1])
    refuse_if(dim(x)[2] != 3, "`x` must be coordinates, points x 3 x cells, or distance_maps().")
    check_cell_coordinates(x)
  }
  check_args(noise = number(0), seed = optional(whole()))
  points <- dim(x)[1]
  cells <- dim(x)[3]
  counts <- round(points * c(check_share(outliers, "outliers"), check_share(missing, "missing")))
  refuse_if(points - sum(counts) < 4,
            "Of %d points, %d would be outliers and %d missing: four must be left.", points,
            counts[1], counts[2])
  seeded(seed, {
    place <- apply(matrix(stats::runif(points * cells), points), 2, rank, ties.method = "first")
    is_outlier <- place <= counts[1]
    x <- x + stats::rnorm(length(x), sd = noise)
    x <- x + on_axes(is_outlier) * rep(radii_of(x), each = 3 * points) * stats::rnorm(length(x))
  })
  x[on_axes(!is_outlier & place <= sum(counts))] <- NA
  maps <- measured(x, work, scale)
  maps$each <- each
  if (counts[1] > 0) maps$outliers <- is_outlier & maps$mask
  check_seen(maps)
}

# Values of points x cells for each axis: points x 3 x cells.
on_axes <- function(values) aperm(array(values, c(dim(values), 3)), c(1, 3, 2))

# Radii of gyration.
radii_of <- function(x) {
  apply(x, 3, function(points) {
    centre <- colMeans(points, na.rm = TRUE)
    sqrt(sum(colMeans((points - rep(centre, each = nrow(points)))^2, na.rm = TRUE)))
  })
}
