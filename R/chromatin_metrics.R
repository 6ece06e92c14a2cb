# Agreement of estimates with the truth.

#' Compare distance maps with the truth
#'
#' `map_metrics(estimate, truth)` measures how close each cell's completed or denoised map is to the
#' true map.
#'
#' @param estimate,truth [distance_maps()] objects of the same cells and points, in the same unit.
#' @param given The maps before completion: only pairs missing in them are compared. `NULL` (the
#'   default): all pairs.
#' @param contact The distance below which points are in contact, in the unit of the maps. Default:
#'   1.5 times the mean distance of neighbours in `truth`.
#' @inheritParams distance_maps
#' @return A data frame with a row for each cell:
#'
#' | Column | |
#' | --- | --- |
#' | `cell`, `pairs` | the cell, and the number of pairs compared |
#' | `error` | mean absolute error, in bonds (mean distances of neighbours in `truth`) |
#' | `squared` | mean squared error, in squared bonds |
#' | `spearman` | rank correlation of estimated and true distances |
#' | `contacts` | area under the ROC curve of true contacts, by estimated distance |
#' | `triangles` | share of triples in the estimate that break the triangle inequality |
#'
#' A value is `NA` if a cell has too few pairs, or no pair is in contact.
#' @section Errors:
#' `ancify_input_error`: the maps differ in their cells, points or unit, or lack a pair to compare.
#' @seealso [cluster_metrics()], [outlier_roc()]
#' @export
#' @examples
#' x <- simulate_polymers(5, seed = 1)
#' given <- perturb_maps(x, missing = 0.1, seed = 2)
#' map_metrics(complete_maps(given), distance_maps(x), given)
map_metrics <- function(estimate, truth, given = NULL, contact = NULL, threads = NULL) {
  check_args(truth = check_maps)
  check_same_maps(check_maps(estimate, "estimate"), truth, "estimate")
  if (!is.null(given)) check_same_maps(check_maps(given, "given"), truth, "given")
  bond <- mean(truth$maps[is_bond(truth$points), ], na.rm = TRUE)
  contact <- if (is.null(contact)) 1.5 * bond else check_positive(contact, "contact", 1)
  compared <- if (is.null(given)) !is.na(truth$maps) else is.na(given$maps)
  refuse_if(
    anyNA(truth$maps[compared]) || anyNA(estimate$maps[compared]),
    "A map lacks a pair to compare: complete `estimate`, or take cells where `truth` is whole."
  )
  work <- new_work(threads)
  triangles <- with_watch("Counting", function(watch) {
    count_triangles_impl(estimate$maps, estimate$points, work, watch)
  })
  by_cell <- vapply(seq_along(estimate$cells), function(cell) {
    chosen <- which(compared[, cell])
    guess <- estimate$maps[chosen, cell]
    true <- truth$maps[chosen, cell]
    ranks <- rank(guess)
    c(length(chosen), mean(abs(guess - true)) / bond, mean((guess - true)^2) / bond^2,
      correlation(ranks, rank(true)), area_under_roc(-ranks, true < contact))
  }, numeric(5))
  data.frame(
    cell = estimate$cells, pairs = by_cell[1, ], error = no_nan(by_cell[2, ]),
    squared = no_nan(by_cell[3, ]), spearman = by_cell[4, ], contacts = by_cell[5, ],
    triangles = no_nan(triangles$broken / triangles$triples)
  )
}

check_same_maps <- function(x, truth, name) {
  problem <- if (!identical(x$cells, truth$cells)) {
    "other cells"
  } else if (x$points != truth$points) {
    sprintf("%d points instead of %d", x$points, truth$points)
  } else if (!same_scale(x$scale, truth$scale)) {
    "another `scale`"
  }
  refuse_if(!is.null(problem), "`%s` has %s, so it cannot be compared with `truth`.", name, problem)
}

# NA if either vector is constant.
correlation <- function(x, y) {
  if (length(x) < 2 || min(x) == max(x) || min(y) == max(y)) NA_real_ else stats::cor(x, y)
}

# The probability that a positive scores higher than a negative; ties count one half.
area_under_roc <- function(score, is_positive) {
  positives <- as.numeric(sum(is_positive))
  negatives <- length(is_positive) - positives
  if (positives == 0 || negatives == 0) {
    return(NA_real_)
  }
  (sum(rank(score)[is_positive]) - positives * (positives + 1) / 2) / positives / negatives
}

#' Compare clusters of cells with their classes
#'
#' `cluster_metrics(clusters, truth)` gives the adjusted Rand index of two partitions. Given scores
#' of the cells, it also measures how well the scores separate the true classes.
#'
#' @param clusters,truth A label for each cell: factors, texts or numbers.
#' @param scores A matrix with a row for each cell, such as from [map_components()]. `NULL` (the
#'   default): no silhouette.
#' @return A named vector:
#' * `adjusted_rand`: 1 for equal partitions, 0 on average for random ones;
#' * `silhouette`, only with `scores`: the mean silhouette width of the classes `truth`, from -1 to
#'   1, by Euclidean distances.
#' @section Errors:
#' `ancify_input_error`: arguments differ in their number of cells, labels are missing, scores are
#' not finite, or `scores` are given but `truth` has only one class.
#' @references
#' Hubert and Arabie (1985) Comparing partitions. Journal of Classification 2:193-218.
#'
#' Rousseeuw (1987) Silhouettes. Journal of Computational and Applied Mathematics 20:53-65.
#' @export
#' @examples
#' cluster_metrics(c(1, 1, 2, 2, 2), c("a", "a", "b", "b", "a"))
cluster_metrics <- function(clusters, truth, scores = NULL) {
  check_given()
  check_labels(clusters, truth)
  figures <- c(adjusted_rand = adjusted_rand(clusters, truth))
  if (is.null(scores)) {
    return(figures)
  }
  check_scores(scores, length(truth))
  refuse_if(length(unique(truth)) < 2, "A silhouette needs two classes or more in `truth`.")
  c(figures, silhouette = mean(silhouette_widths(scores, truth)))
}

check_labels <- function(clusters, truth) {
  n <- length(truth)
  good <- is.atomic(clusters) && is.atomic(truth) && n > 1 && length(clusters) == n
  refuse_if(
    !good || anyNA(clusters) || anyNA(truth),
    "`clusters` and `truth` must have a label for each of two cells or more, not %s and %s.",
    count_of(length(clusters), "label"), count_of(n, "label")
  )
}

check_scores <- function(scores, cells) {
  refuse_if(!is.matrix(scores) || !is.numeric(scores) || nrow(scores) != cells ||
              !all(is.finite(scores)),
            "`scores` must be a matrix of finite numbers with %s, one for each cell.",
            count_of(cells, "row"))
}

# The number of pairs that share both cluster and class, less its expectation, divided by the
# largest such excess.
adjusted_rand <- function(clusters, truth) {
  pairs <- function(n) sum(n * (n - 1) / 2)
  both <- table(clusters, truth)
  of_clusters <- pairs(rowSums(both))
  of_classes <- pairs(colSums(both))
  by_chance <- of_clusters * of_classes / pairs(sum(both))
  most <- (of_clusters + of_classes) / 2
  # Both partitions have one cluster, or both have only single cells.
  if (most == by_chance) 1 else (pairs(both) - by_chance) / (most - by_chance)
}

# (b - a) / max(a, b), where a is a cell's mean distance to its own class, and b to the nearest
# other class. The width is 0 for the only cell of a class.
silhouette_widths <- function(scores, classes) {
  class_of <- as.integer(factor(classes))
  sizes <- tabulate(class_of)
  # Centre the scores, because differences of large squares would lose precision.
  scores <- scores - rep(colMeans(scores), each = nrow(scores))
  squares <- rowSums(scores^2)
  widths <- numeric(nrow(scores))
  at_once <- 1000
  for (first in seq(1, nrow(scores), at_once)) {
    rows <- first:min(first + at_once - 1, nrow(scores))
    products <- tcrossprod(scores[rows, , drop = FALSE], scores)
    distances <- sqrt(pmax(outer(squares[rows], squares, `+`) - 2 * products, 0))
    distances[cbind(seq_along(rows), rows)] <- 0
    sums <- t(rowsum(t(distances), class_of))
    own <- cbind(seq_along(rows), class_of[rows])
    within <- sums[own] / pmax(sizes[class_of[rows]] - 1, 1)
    means <- sums / rep(sizes, each = length(rows))
    means[own] <- Inf
    other <- do.call(pmin, as.data.frame(means))
    widths[rows] <- ifelse(sizes[class_of[rows]] == 1, 0, (other - within) / pmax(other, within))
  }
  # If a cell coincides with both classes, 0 / 0 means a width of 0.
  replace(widths, is.nan(widths), 0)
}
