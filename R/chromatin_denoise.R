# Detection and correction of wrong points and distances.

#' Denoise distance maps
#'
#' `denoise_maps(x, method)` corrects distances: it replaces false spots, or finds a similar map of
#' points in space. `outlier_scores(x)` measures how far each point lies from its neighbours on the
#' chain.
#'
#' @details
#' | `method` | Distances |
#' | --- | --- |
#' | `"outliers"` | points with a score above `threshold` are removed, then interpolated |
#' | `"rank"` | distances from the nearest Gram matrix of rank 3: classical scaling |
#' | `"smacof"` | distances of the structure of least stress: [map_structures()] |
#'
#' `"outliers"` changes only the pairs of removed points.
#'
#' `"rank"` and `"smacof"` correct distances that no points in space have, such as distances with
#' independent errors. `"smacof"` then comes much nearer to the truth than `"rank"`, which fits
#' squared distances and so weights long ones more. Points moved in space have possible distances,
#' which neither method changes.
#'
#' **Scores.** A false spot is far from both its neighbours on the chain. A neighbour of a false
#' spot is far from that spot alone. A score therefore has two parts, each a minimum of distances:
#' * to the nearest observed point on each side;
#' * to the midpoint of two observed points, one on each side, each the nearest or the second.
#'
#' Each part is divided by its root mean square over all points. The score is the geometric mean of
#' both, divided by its median over all cells. At the ends of the chain it has the first part only.
#'
#' With `fit`, the score is the network's median change to the point's pairs, divided by its median
#' over all cells.
#'
#' @param x A [distance_maps()] object.
#' @param method A row of the table; `"outliers"` by default.
#' @param fit A [fit_autoencoder()] result for the task `"denoise"`. `NULL` (the default): scores
#'   from neighbours, which need no training.
#' @param backend Device that runs `fit`, as in [fit_autoencoder()].
#' @param threshold For `"outliers"`, the score above which a point is removed; 2.5 by default.
#' @inheritParams distance_maps
#' @return
#' * `denoise_maps()`: a [distance_maps()] object. Missing pairs stay missing. Distances of points
#'   that [map_structures()] omits stay unchanged.
#' * `outlier_scores()`: a matrix of points x cells; `NA` for points that are unobserved, or that
#'   [map_structures()] omits.
#' @section Errors:
#' `ancify_input_error`: an argument has the wrong type, or `threshold` leaves a cell with fewer
#' than two points.
#'
#' `ancify_device_error`: as in [fit_autoencoder()].
#' @seealso [outlier_roc()], [map_structures()]
#' @export
#' @examples
#' x <- simulate_polymers(50, seed = 1)
#' given <- perturb_maps(x, outliers = 0.05, seed = 2)
#' attr(outlier_roc(outlier_scores(given), given$outliers), "area")
#' error <- function(maps) mean(map_metrics(maps, distance_maps(x))$error)
#' c(before = error(given), after = error(denoise_maps(given)))
denoise_maps <- function(x, method = c("outliers", "rank", "smacof"), threshold = 2.5,
                         threads = NULL) {
  check_args(x = check_maps, method = choice(names(denoising_methods)), threshold = positive(1))
  denoised <- denoising_methods[[method]](x, threshold, new_work(threads))
  known <- !is.na(x$maps) & !is.na(denoised)
  x$maps[known] <- denoised[known]
  x
}

# Each function takes maps, `threshold` and `work`; it returns pairs x cells.
denoising_methods <- list(
  outliers = function(x, threshold, work) without_outliers(x, threshold, work),
  rank = function(x, threshold, work) measured(structures_of(x, work, iterations = 0), work)$maps,
  smacof = function(x, threshold, work) measured(structures_of(x, work), work)$maps
)

without_outliers <- function(x, threshold, work) {
  out <- which(to_median(chain_scores(x, work)) > threshold)
  kept <- x$mask
  kept[out] <- FALSE
  few <- which(colSums(kept) < 2)
  refuse_if(length(few), "`threshold` %s leaves only %s of cell %s: choose a higher one.",
            format(threshold), count_of(colSums(kept)[[few[1]]], "point"), quoted(x$cells[few[1]]))
  at <- map_pairs(x$points)
  given <- x$maps
  removed <- !kept[at$first, , drop = FALSE] | !kept[at$second, , drop = FALSE]
  x$maps[removed] <- NA
  found <- interpolated_maps(x, structures_of(x, work), work)
  # A structure fitted to inexact distances alters the other points' distances too: keep theirs.
  replace(given, removed, found[removed])
}

#' @rdname denoise_maps
#' @export
outlier_scores <- function(x, threads = NULL, fit = NULL, backend = "auto") {
  check_args(x = check_maps)
  score <- if (is.null(fit)) {
    check_choice(backend, backends, "backend")
    chain_scores(x, new_work(threads))
  } else {
    network_scores(x, fit, new_work(threads, backend))
  }
  to_median(score)
}

to_median <- function(score) score / stats::median(score, na.rm = TRUE)

network_scores <- function(x, fit, work) {
  check_fits(fit, x)
  refuse_if(fit$task != "denoise",
            "`fit` was trained to %s maps, but scores need one that was trained to denoise them.",
            fit$task)
  changed_by(fit, x, work)
}

chain_scores <- function(x, work) {
  found <- structures_of(x, work)
  parts <- lapply(seq_along(x$cells), function(cell) neighbour_distances(found[, , cell]))
  part <- function(name) vapply(parts, `[[`, numeric(x$points), name)
  # If all points coincide, the scale is 0 and no point has a score.
  relative <- function(distance) no_nan(distance / sqrt(mean(distance^2, na.rm = TRUE)))
  bond <- relative(part("bond"))
  middle <- relative(part("middle"))
  score <- sqrt(bond * ifelse(is.na(middle), bond, middle))
  dimnames(score) <- list(NULL, x$cells)
  score
}

# The distance of each point (a row of `points`) to its nearer neighbour, and to the nearest
# midpoint of points on both sides. NA for unobserved points, and for midpoints at the ends.
neighbour_distances <- function(points) {
  seen <- which(!is.na(points[, 1]))
  chain <- points[seen, , drop = FALSE]
  n <- length(seen)
  # The chain shifted by this many points; NA beyond the ends.
  shifted <- function(by) {
    at <- seq_len(n) + by
    at[at < 1 | at > n] <- NA
    chain[at, , drop = FALSE]
  }
  length_of <- function(steps) sqrt(rowSums(steps^2))
  least <- function(distances) do.call(pmin, c(distances, na.rm = TRUE))
  middles <- expand.grid(before = -2:-1, after = 1:2)
  both <- list(
    bond = least(lapply(c(-1, 1), function(by) length_of(chain - shifted(by)))),
    middle = least(Map(function(before, after) {
      length_of(chain - (shifted(before) + shifted(after)) / 2)
    }, middles$before, middles$after))
  )
  lapply(both, function(distance) replace(rep(NA_real_, nrow(points)), seen, distance))
}

#' Receiver operating characteristic of outlier scores
#'
#' `outlier_roc(scores, truth)` measures how well scores separate outliers from other points.
#'
#' @param scores Numbers, such as the matrix of [outlier_scores()]; `NA` values are omitted.
#' @param truth `TRUE` for outliers, in the shape of `scores`: the element `outliers` of
#'   [perturb_maps()].
#' @return A data frame with a row for each threshold, from the highest. It has `threshold`, and the
#'   false and true positive rates of points with at least that score, `false_positive` and
#'   `true_positive`. The attribute `area` is the area under the curve.
#' @section Errors:
#' `ancify_input_error`: arguments differ in length, or `truth` has only outliers or no outliers.
#' @export
#' @examples
#' outlier_roc(c(0.5, 3, 1, 0.7), c(FALSE, TRUE, TRUE, FALSE))
outlier_roc <- function(scores, truth) {
  check_given()
  refuse_if(!is.numeric(scores) || !is.logical(truth) || length(scores) != length(truth),
            "`scores` must be numbers and `truth` TRUE and FALSE, of one length each.")
  known <- !is.na(scores) & !is.na(truth)
  scores <- scores[known]
  truth <- truth[known]
  refuse_if(!any(truth) || all(truth), "`truth` must have outliers and other points.")
  falling <- order(-scores)
  last <- !duplicated(scores[falling], fromLast = TRUE)
  structure(
    data.frame(
      threshold = scores[falling][last],
      false_positive = (cumsum(!truth[falling]) / sum(!truth))[last],
      true_positive = (cumsum(truth[falling]) / sum(truth))[last]
    ),
    area = area_under_roc(scores, truth)
  )
}
