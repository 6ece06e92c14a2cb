# Distance maps: coordinates and distances of many cells in one object.

#' Distance maps of structures
#'
#' `distance_maps(x)` computes the distances between ordered points in many cells, such as traced
#' chromatin, from their coordinates. It also takes existing maps.
#'
#' @details
#' | `x` | Meaning |
#' | --- | --- |
#' | array, points x 3 x cells | coordinates |
#' | array, points x points x cells | distances |
#' | list of such matrices, or one matrix | one for each cell |
#' | data frame | columns `cell`, `point` (whole numbers from 1), `x`, `y` and `z` |
#'
#' A data frame's rows may have any order. Its largest `point` is the number of points. Cells
#' without a name are named by their index.
#'
#' An unobserved point has `NA` for all three coordinates, or no row in a data frame. Its distances
#' are `NA`. In a matrix of distances, single pairs may be `NA`. A cell with fewer than two observed
#' points has no distance and is omitted.
#'
#' If a data frame has several spots for a point of a cell, the correct one is unknown, and the
#' point counts as unobserved. Identical rows are one spot. Give two homologous chromosomes as two
#' cells.
#'
#' An object of class `distance_maps` is a list:
#' * `maps`: the upper triangles, a matrix of pairs x cells, in the order of [upper.tri()];
#' * `points`: the number of points; `cells`: names of the cells;
#' * `mask`: a logical matrix of points x cells, `TRUE` for observed points;
#' * `scale`: the divisor of the distances, one number or one for each cell;
#' * `each`: `TRUE` if each map was divided by its own radius of gyration;
#' * `outliers`: a logical matrix, `TRUE` for moved points, only in results of [perturb_maps()].
#'
#' @param x Coordinates or distances of 8 to 5,000 points, as in the table.
#' @param scale A number above 0 by which all distances are divided; 1 by default. `"each"` divides
#'   each map by its own radius of gyration, so that cells no longer differ in size.
#' @param threads Number of threads. `NULL` (the default): `getOption("ancify.threads")`, or else
#'   all cores. The number of threads never changes a result.
#' @return An object of class `distance_maps`, for the functions in [distance_maps_methods].
#' @section Warnings:
#' `ancify_maps_warning`: cells with fewer than two observed points are omitted, or a point of a
#' data frame has several spots in a cell.
#' @section Errors:
#' `ancify_input_error`: `x` has another shape, fewer than 8 or more than 5,000 points, or matrices
#' of several sizes. Or a number is infinite or beyond 1e100, a distance is negative, or a map is
#' asymmetric. Or no cell has two observed points, or two cells share a name. The message names the
#' cell and the point.
#' @seealso [distance_maps_methods], [simulate_polymers()], [map_structures()], [complete_maps()],
#'   [denoise_maps()], [map_components()], [map_metrics()]
#' @export
#' @examples
#' set.seed(1)
#' walk <- apply(matrix(rnorm(30 * 3), 30), 2, cumsum)
#' maps <- distance_maps(list(first = walk, second = 2 * walk))
#' maps
#' as.array(maps)[1:3, 1:3, "second"]
#'
#' # A table with a point that was not seen
#' table <- data.frame(cell = "A", point = 1:30, x = walk[, 1], y = walk[, 2], z = walk[, 3])
#' distance_maps(table[-7, ])
distance_maps <- function(x, scale = 1, threads = NULL) {
  check_given()
  given <- as_cell_array(x)
  check_points(dim(given)[1])
  work <- new_work(threads)
  is_coordinates <- dim(given)[2] == 3
  maps <- if (is_coordinates) {
    check_cell_coordinates(given)
    measured(given, work)
  } else {
    check_cell_distances(given)
    points <- dim(given)[1]
    upper <- which(upper.tri(diag(points)))
    new_maps(matrix(as.double(given), points^2)[upper, , drop = FALSE], points, cell_names(given))
  }
  rescaled(check_seen(maps), scale)
}

fewest_points <- 8
most_points <- 5000 # a map of this size takes 100 MB
# Squares of much larger numbers would be infinite.
largest_number <- 1e100

# `mask`: by default, the points with an observed pair.
new_maps <- function(maps, points, cells, mask = NULL, scale = 1) {
  if (is.null(mask)) {
    at <- map_pairs(points)
    seen <- 1 * !is.na(maps)
    mask <- matrix(0, points, ncol(maps))
    mask[-points, ] <- rowsum(seen, at$first)
    mask[-1, ] <- mask[-1, ] + rowsum(seen, at$second)
    mask <- mask > 0
  }
  structure(
    list(maps = maps, points = points, cells = cells, mask = mask, scale = scale),
    class = "distance_maps"
  )
}

# Both points of each pair, in the order of an upper triangle.
map_pairs <- function(points) {
  second <- rep(seq_len(points), seq_len(points) - 1)
  list(first = sequence(seq_len(points - 1)), second = second)
}

# Maps from checked coordinates.
measured <- function(coordinates, work, scale = 1) {
  points <- dim(coordinates)[1]
  cells <- dim(coordinates)[3]
  maps <- with_watch("Measuring", function(watch) {
    measure_maps_impl(as.double(coordinates), points, cells, work, watch)
  }, work$progress)
  mask <- matrix(!is.na(coordinates[, 1, ]), points)
  new_maps(maps, points, cell_names(coordinates), mask, scale)
}

cell_names <- function(x) names_or_numbers(dimnames(x)[[3]], dim(x)[3])

# The names of `n` items; unnamed items get their index.
names_or_numbers <- function(names, n) {
  numbers <- as.character(seq_len(n))
  if (is.null(names)) numbers else ifelse(is.na(names) | names == "", numbers, names)
}

# Keeps the maps of cells that have a distance.
check_seen <- function(maps) {
  is_seen <- colSums(maps$mask) >= 2
  unseen <- enumerate(quoted(maps$cells[!is_seen]))
  refuse_if(!any(is_seen), "No cell has two points that were seen, so there is no distance: %s.",
            unseen)
  if (!all(is_seen)) {
    warn_ancify(
      sprintf("%s no distance, as fewer than two points were seen. Left out: %s.",
              count_with_verb(sum(!is_seen), "cell"), unseen),
      "maps"
    )
    maps <- maps[which(is_seen)]
  }
  maps
}

# True if each map was divided by its own radius of gyration. Objects saved by earlier versions
# record it only if they have several cells.
is_each <- function(maps) maps$each %||% (length(maps$scale) > 1)

rescaled <- function(maps, scale) {
  if (identical(scale, "each")) {
    radius <- gyration_radii(maps)
    refuse_if(any(radius == 0),
              "All points of cell %s are at one place, so `scale` \"each\" cannot divide by it.",
              quoted(maps$cells[radius == 0][1]))
    maps$scale <- radius
    maps$each <- TRUE
  } else {
    maps$each <- FALSE
    maps$scale <- or_null(check_positive(scale, "scale", 1))
    must_be(!is.null(maps$scale), scale, "scale", "a number above 0 or \"each\"")
  }
  if (!identical(maps$scale, 1)) {
    maps$maps <- maps$maps / rep(maps$scale, each = nrow(maps$maps), length.out = length(maps$maps))
  }
  maps
}

# The squared radius is the sum of squared distances over the squared number of points.
gyration_radii <- function(maps) {
  seen <- colSums(maps$mask)
  sqrt(colMeans(maps$maps^2, na.rm = TRUE) * (seen - 1) / (2 * seen))
}

check_maps <- of_class("distance_maps", "the result of distance_maps()")

check_points <- function(points) {
  refuse_if(points < fewest_points || points > most_points, "A map has %d to %d points, not %s.",
            fewest_points, most_points, format_count(points))
  points
}

# ---- Shapes -------------------------------------------------------------------------------------

# An array with a matrix of coordinates or distances for each cell.
as_cell_array <- function(x) {
  array <- if (is.data.frame(x)) {
    table_to_array(x)
  } else if (is.list(x) && !is.object(x)) {
    list_to_array(x)
  } else if (is.matrix(x)) {
    array(x, c(dim(x), 1))
  } else {
    x
  }
  good <- is.numeric(array) && length(dim(array)) == 3 && dim(array)[3] > 0 &&
    (dim(array)[2] == 3 || dim(array)[1] == dim(array)[2])
  if (!good) {
    shape <- if (length(dim(array)) > 0) paste(dim(array), collapse = " x ") else show_value(x)
    refuse_input(
      paste(
        "`x` must be an array of points x 3 x cells or points x points x cells, a list of such",
        sprintf("matrices, or a data frame, not %s.", shape)
      )
    )
  }
  check_distinct(cell_names(array))
  array
}

check_distinct <- function(names) {
  twice <- anyDuplicated(names)
  refuse_if(twice, "Two cells of `x` have the name %s: each must have its own.",
            quoted(names[twice]))
}

list_to_array <- function(x) {
  is_map <- vapply(x, function(map) is.matrix(map) && is.numeric(map), NA)
  name_of <- function(i) quoted(names_or_numbers(names(x), length(x))[i])
  refuse_if(
    length(x) == 0 || !all(is_map),
    if (length(x) == 0) {
      "`x` is an empty list: give a matrix for each cell."
    } else {
      wrong <- which(!is_map)[1]
      sprintf("Cell %s of `x` must be a matrix of numbers, not %s.", name_of(wrong),
              show_value(x[[wrong]]))
    }
  )
  sizes <- vapply(x, dim, integer(2))
  differs <- which(colSums(sizes != sizes[, 1]) > 0)
  refuse_if(length(differs), "Matrices must have the same size, but cell %s has %s and cell %s %s.",
            name_of(1), paste(sizes[, 1], collapse = " x "), name_of(differs[1]),
            paste(sizes[, differs[1]], collapse = " x "))
  array(unlist(x, use.names = FALSE), c(sizes[, 1], length(x)), list(NULL, NULL, names(x)))
}

table_to_array <- function(x) {
  axes <- c("x", "y", "z")
  lacking <- setdiff(c("cell", "point", axes), names(x))
  refuse_if(length(lacking), "The data frame `x` lacks %s.", enumerate(sprintf("`%s`", lacking)))
  point <- x[["point"]]
  good <- if (is.numeric(point)) {
    is.finite(point) & point >= 1 & point == round(point)
  } else {
    logical(length(point))
  }
  refuse_if(
    nrow(x) == 0 || !all(good) || anyNA(x[["cell"]]),
    if (nrow(x) == 0) {
      "The data frame `x` has no rows."
    } else if (anyNA(x[["cell"]])) {
      sprintf("Row %d of `x` has no cell.", which(is.na(x[["cell"]]))[1])
    } else {
      sprintf("`point` must be whole numbers from 1, not %s in row %d.",
              show_value(point[!good][[1]]), which(!good)[1])
    }
  )
  check_points(max(point))
  cell <- cells_of_rows(x[["cell"]])
  out <- array(NA_real_, c(max(point), 3, nlevels(cell)), list(NULL, axes, levels(cell)))
  rows <- rows_of_spots(check_axes(x[axes]), point, cell)
  for (axis in 1:3) {
    out[cbind(point[rows], axis, as.integer(cell)[rows])] <- x[[axes[axis]]][rows]
  }
  out
}

check_axes <- function(coordinates) {
  wrong <- names(coordinates)[!vapply(coordinates, is.numeric, NA)]
  refuse_if(length(wrong), "`%s` must be numbers, not %s.", wrong[1],
            show_value(coordinates[[wrong[1]]]))
  coordinates
}

# The rows of observed points, one for each. A point with several spots in a cell has none.
rows_of_spots <- function(coordinates, point, cell) {
  rows <- which(rowSums(is.na(coordinates)) < 3)
  place <- data.frame(cell, point)[rows, ]
  is_first <- !duplicated(cbind(place, coordinates[rows, ]))
  rows <- rows[is_first]
  place <- place[is_first, ]
  is_later <- duplicated(place)
  is_one <- !is_later & !duplicated(place, fromLast = TRUE)
  if (any(is_later)) {
    later <- which(is_later)[1]
    warn_ancify(
      sprintf(paste("%s several spots in a cell, so it counts as not seen there, as point %d of",
                    "cell %s in row %d: keep one row of each."),
              count_with_verb(sum(!is_one & !is_later), "point"), place$point[later],
              quoted(place$cell[later]), rows[later]),
      "maps"
    )
  }
  rows[is_one]
}

# A factor of cells in the order of their first rows.
cells_of_rows <- function(cell) {
  cells <- unique(cell)
  is_number <- is.double(cell) && !is.object(cell)
  factor(cell, cells, if (is_number) vapply(cells, number_text, "") else cells)
}

# ---- Values -------------------------------------------------------------------------------------

check_cell_coordinates <- function(x) {
  complain <- function(wrong, problem) {
    at <- arrayInd(which(wrong)[1], dim(x)[c(1, 3)])
    refuse_input("Point %d of cell %s has %s.", at[1], quoted(cell_names(x)[at[2]]), problem)
  }
  in_cells <- function(axis) x[, axis, , drop = FALSE]
  for (axis in 1:3) {
    value <- in_cells(axis)
    infinite <- is.infinite(value)
    if (any(infinite)) complain(infinite, "an infinite coordinate")
    large <- !is.na(value) & abs(value) > largest_number
    if (any(large)) complain(large, sprintf("a coordinate beyond %g", largest_number))
    partial <- is.na(in_cells(axis)) != is.na(in_cells(1))
    if (any(partial)) complain(partial, "only some coordinates: give all three, or NA for all")
  }
}

check_cell_distances <- function(x) {
  complain <- function(wrong, problem) {
    at <- arrayInd(which(wrong)[1], dim(x))
    refuse_input("The map of cell %s %s, at points %d and %d.", quoted(cell_names(x)[at[3]]),
                 problem, at[1], at[2])
  }
  on_diagonal <- array(diag(dim(x)[1]) == 1, dim(x))
  wrong <- !is.na(x) & on_diagonal & x != 0
  if (any(wrong)) complain(wrong, "has a diagonal that is not 0")
  wrong <- !is.na(x) & (x < 0 | is.infinite(x))
  if (any(wrong)) complain(wrong, "has a negative or infinite distance")
  wrong <- !is.na(x) & x > largest_number
  if (any(wrong)) complain(wrong, sprintf("has a distance beyond %g", largest_number))
  other <- aperm(x, c(2, 1, 3))
  differs <- abs(x - other) > 1e-8 * (x + other)
  wrong <- is.na(x) != is.na(other) | (!is.na(differs) & differs)
  if (any(wrong)) complain(wrong, "is not symmetric")
}
