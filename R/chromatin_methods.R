#' Methods for distance maps
#'
#' What can be done with an object of [distance_maps()] beside completing and denoising it.
#'
#' @param x,object An object of class `distance_maps`.
#' @param i Cells: numbers, names, or `TRUE` and `FALSE`.
#' @param ... Not used.
#' @return
#' * `length(x)`: the number of cells; `names(x)`: their names.
#' * `x[i]`: the maps of some cells.
#' * `as.array(x)`: whole symmetric maps, points x points x cells.
#' * `as.matrix(x)`: a row for each cell and a column for each pair, named such as `"1-2"`. That is
#'   what clustering and embedding functions take.
#' * `summary(x)`: a data frame with a row for each cell. It has `cell`, the number of `points`
#'   seen, and the share of pairs `missing`. Then come the mean `bond` (distance of neighbours),
#'   the `radius` of gyration and the `largest` distance.
#' * `separation_profile(x)`: a data frame with a row for each separation along the chain. It has
#'   `separation`, the number of `pairs` seen, and their `mean` and `mean_square` distance.
#' * `print(x)`: `x`, invisibly.
#' @section Errors:
#' `ancify_input_error`: there are no such cells.
#' @name distance_maps_methods
#' @aliases separation_profile
#' @examples
#' maps <- distance_maps(simulate_polymers(20, polymer_model(32), seed = 1))
#' maps[1:3]
#' summary(maps[1:3])
#' # Mean squared distances of an ideal chain grow by 3 with each bond.
#' head(separation_profile(maps), 3)
#' dim(as.matrix(maps))
NULL

#' @rdname distance_maps_methods
#' @export
print.distance_maps <- function(x, ...) {
  check_no_more(...)
  seen <- range(x$maps, na.rm = TRUE)
  unseen <- mean(!x$mask)
  write_object(
    "distance_maps", sprintf("%s of %d points", count_of(length(x), "cell"), x$points),
    c(
      distances = sprintf("%s to %s", format(seen[1], digits = 3), format(seen[2], digits = 3)),
      "points not seen" = if (unseen > 0) format_percent(unseen) else "none",
      "pairs missing" = if (anyNA(x$maps)) format_percent(mean(is.na(x$maps))) else "none",
      scale = if (length(x$scale) > 1 || x$scale != 1) {
        sprintf("divided by %s", if (length(x$scale) > 1) {
          "each map's radius of gyration"
        } else {
          format(x$scale, digits = 3)
        })
      } else {
        "that of the input"
      }
    )
  )
  invisible(x)
}

#' @rdname distance_maps_methods
#' @export
length.distance_maps <- function(x) ncol(x[["maps"]])

#' @rdname distance_maps_methods
#' @export
names.distance_maps <- function(x) x[["cells"]]

#' @rdname distance_maps_methods
#' @export
`[.distance_maps` <- function(x, i) {
  cells <- unclass(x)$cells
  chosen <- tryCatch(unname(stats::setNames(seq_along(cells), cells)[i]),
                     error = function(condition) NA)
  if (length(chosen) == 0 || anyNA(chosen)) {
    abort_ancify(
      sprintf("There is no cell %s among the %s.", show_value(i), format_count(length(cells))),
      "input"
    )
  }
  x$maps <- x$maps[, chosen, drop = FALSE]
  x$mask <- x$mask[, chosen, drop = FALSE]
  x$outliers <- x$outliers[, chosen, drop = FALSE]
  if (length(x$scale) > 1) x$scale <- x$scale[chosen]
  x$cells <- cells[chosen]
  x
}

#' @rdname distance_maps_methods
#' @export
as.array.distance_maps <- function(x, ...) {
  check_no_more(...)
  points <- x$points
  out <- matrix(0, points^2, length(x))
  at <- map_pairs(points)
  out[at$first + (at$second - 1) * points, ] <- x$maps
  out[at$second + (at$first - 1) * points, ] <- x$maps
  # A point that was not seen has distances all the same in a completed map.
  incomplete <- rep(colSums(is.na(x$maps)) > 0, each = points)
  out[seq(1, points^2, points + 1), ][!x$mask & incomplete] <- NA
  array(out, c(points, points, length(x)), list(NULL, NULL, x$cells))
}

#' @rdname distance_maps_methods
#' @export
as.matrix.distance_maps <- function(x, ...) {
  check_no_more(...)
  at <- map_pairs(x$points)
  out <- t(x$maps)
  dimnames(out) <- list(x$cells, paste(at$first, at$second, sep = "-"))
  out
}

#' @rdname distance_maps_methods
#' @export
summary.distance_maps <- function(object, ...) {
  check_no_more(...)
  data.frame(
    cell = object$cells, points = colSums(object$mask), missing = colMeans(is.na(object$maps)),
    bond = no_nan(colMeans(object$maps[is_bond(object$points), , drop = FALSE], na.rm = TRUE)),
    radius = gyration_radii(object),
    largest = apply(object$maps, 2, max, na.rm = TRUE)
  )
}

no_nan <- function(x) replace(x, is.nan(x), NA)

# Which pairs are neighbours on the chain.
is_bond <- function(points) {
  at <- map_pairs(points)
  at$second - at$first == 1
}

#' @rdname distance_maps_methods
#' @export
separation_profile <- function(x) {
  check_given()
  check_maps(x)
  at <- map_pairs(x$points)
  separation <- at$second - at$first
  over <- function(values) as.vector(tapply(values, separation, sum))
  pairs <- over(rowSums(!is.na(x$maps)))
  data.frame(
    separation = seq_len(x$points - 1), pairs = pairs,
    mean = no_nan(over(rowSums(x$maps, na.rm = TRUE)) / pairs),
    mean_square = no_nan(over(rowSums(x$maps^2, na.rm = TRUE)) / pairs)
  )
}
