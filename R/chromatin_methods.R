#' Methods for distance maps
#'
#' Choose, name, join, convert and summarise the cells of [distance_maps()].
#'
#' @param x,object An object of class `distance_maps`.
#' @param i Cells: indices, names, or `TRUE` and `FALSE`.
#' @param value New names, a different one for each cell.
#' @param ... For `c()`, objects of class `distance_maps` with equal numbers of points and equal
#'   `scale`. Otherwise not used.
#' @return
#' * `length(x)`: the number of cells; `names(x)`: their names, which `names(x) <- value` changes.
#' * `x[i]`: the maps of some cells.
#' * `c(x, y)`: the maps of all cells. With `c(a = x, b = y)` the names of cells begin with `"a."`
#'   and `"b."`.
#' * `as.array(x)`: full symmetric maps, points x points x cells.
#' * `as.matrix(x)`: a row for each cell and a column for each pair, with names such as `"1-2"`.
#'   Clustering and embedding functions take this form.
#' * `summary(x)`: a data frame with a row for each cell. Its columns are `cell`, the number of
#'   observed `points` and the share of `missing` pairs; then the mean `bond` (distance of
#'   neighbours), the `radius` of gyration and the `largest` distance.
#' * `separation_profile(x)`: a data frame with a row for each separation along the chain. Its
#'   columns are `separation`, the number of observed `pairs`, and their `mean` and `mean_square`
#'   distance.
#' * `print(x)`: `x`, invisibly.
#' @section Errors:
#' `ancify_input_error`: cells do not exist, two cells would share a name, or maps differ in their
#' number of points or `scale`.
#' @name distance_maps_methods
#' @aliases separation_profile
#' @examples
#' maps <- distance_maps(simulate_polymers(20, polymer_model(32), seed = 1))
#' maps[1:3]
#' c(left = maps[1:3], right = maps[4:6])
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
        sprintf("divided by %s", if (is_each(x)) {
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
`names<-.distance_maps` <- function(x, value) {
  value <- as.character(value)
  refuse_if(length(value) != length(x) || anyNA(value) || any(value == "") || anyDuplicated(value),
            "Names must be different texts, one for each of %s.", count_of(length(x), "cell"))
  x$cells <- value
  x
}

#' @rdname distance_maps_methods
#' @export
c.distance_maps <- function(...) {
  parts <- list(...)
  for (part in parts) {
    check_maps(part, "...")
    refuse_if(part$points != parts[[1]]$points,
              "All maps must have the same number of points, not %d and %d.", parts[[1]]$points,
              part$points)
  }
  cells <- unlist(lapply(seq_along(parts), function(i) {
    prefix <- names(parts)[i] %||% ""
    if (nzchar(prefix)) paste(prefix, parts[[i]]$cells, sep = ".") else parts[[i]]$cells
  }))
  refuse_if(anyDuplicated(cells),
            "Two cells have the name %s: name the maps, as in c(a = x, b = y).",
            quoted(cells[anyDuplicated(cells)]))
  bind <- function(name) do.call(cbind, lapply(unname(parts), `[[`, name))
  out <- new_maps(bind("maps"), parts[[1]]$points, cells, bind("mask"), common_scale(parts))
  out$each <- all(vapply(parts, is_each, NA))
  # Moved points are known only if all maps record them.
  if (all(vapply(parts, function(part) is.matrix(part$outliers), NA))) {
    out$outliers <- bind("outliers")
  }
  out
}

# The common scale, or a scale for each cell if every map was divided by its own.
common_scale <- function(parts) {
  scales <- lapply(unname(parts), `[[`, "scale")
  each <- vapply(parts, is_each, NA)
  if (all(each)) {
    return(unlist(scales))
  }
  refuse_if(any(each) || !all(vapply(scales, same_scale, NA, scales[[1]])),
            "All maps must have the same `scale`: join them before they are divided.")
  scales[[1]]
}

same_scale <- function(a, b) length(a) == length(b) && all(abs(a / b - 1) < 1e-8)

#' @rdname distance_maps_methods
#' @export
`[.distance_maps` <- function(x, i) {
  cells <- unclass(x)$cells
  # A factor's codes are not cell indices.
  if (!missing(i) && is.factor(i)) i <- as.character(i)
  chosen <- tryCatch(unname(stats::setNames(seq_along(cells), cells)[i]),
                     error = function(condition) NA)
  refuse_if(length(chosen) == 0, "No cell is chosen: choose one or more.")
  refuse_if(anyNA(chosen), "There is no cell %s among the %s.", show_value(i),
            format_count(length(cells)))
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
  # In a completed map, unobserved points have distances too, and a zero diagonal.
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

# True for pairs of neighbours on the chain.
is_bond <- function(points) {
  at <- map_pairs(points)
  at$second - at$first == 1
}

#' @rdname distance_maps_methods
#' @export
separation_profile <- function(x) {
  check_args(x = check_maps)
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
