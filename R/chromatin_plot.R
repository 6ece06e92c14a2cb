#' Draw distance maps
#'
#' `plot(x)` draws the mean map of all cells, `plot(x, cells = 1)` the map of one, and
#' `plot(x, cells = 1:6)` several side by side, with a common scale of shades. `autoplot()` gives
#' the ggplot2 object.
#'
#' @details
#' Short distances are dark, long ones light. Unobserved pairs are grey. In the mean map, a pair is
#' grey only if it is unobserved in every cell.
#'
#' @param object,x A [distance_maps()] object.
#' @param cells Cells to draw, at most 12: indices or names. `NULL` (the default): the mean map.
#' @param ... Not used.
#' @return `autoplot()`: a `ggplot`. `plot()`: this `ggplot`, invisibly.
#' @section Errors:
#' * `ancify_package_error`: ggplot2 is not installed.
#' * `ancify_input_error`: `cells` do not exist, or are more than 12.
#' @seealso [distance_maps()]
#' @name plot.distance_maps
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' maps <- distance_maps(
#'   simulate_polymers(100, polymer_model(64, c(20, 24, 20), domain_spring = 0.1), seed = 1)
#' )
#' plot(maps)
#' plot(maps, cells = 1:3)
NULL

most_maps_drawn <- 12

#' @rdname plot.distance_maps
#' @usage \method{autoplot}{distance_maps}(object, cells = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.distance_maps <- function(object, cells = NULL, ...) { # nolint: object_name_linter.
  check_method(object = check_maps)
  need_ggplot2()
  means <- is.null(cells)
  if (!means) object <- object[cells]
  title <- if (length(object) == 1) {
    sprintf("Distances in cell %s", shorten(object$cells))
  } else {
    sprintf("%s in %s", if (means) "Mean distances" else "Distances",
            count_of(length(object), "cell"))
  }
  if (means) {
    object <- mean_map(object)
  } else if (length(object) > most_maps_drawn) {
    refuse_input("`cells` has %s, but at most %d are drawn.", count_of(length(object), "cell"),
                 most_maps_drawn)
  }
  map_picture(object) + ggplot2::labs(title = title)
}

#' @rdname plot.distance_maps
#' @export
plot.distance_maps <- function(x, cells = NULL, ...) {
  draw_picture(autoplot.distance_maps(x, cells, ...))
}

mean_map <- function(maps) {
  new_maps(matrix(no_nan(rowMeans(maps$maps, na.rm = TRUE))), maps$points, "")
}

map_picture <- function(maps) {
  n <- length(maps)
  points <- seq_len(maps$points)
  cell <- rep(seq_len(n), each = maps$points^2)
  drawn <- data.frame(
    first = points, second = rep(points, each = maps$points),
    cell = as_panels(cell, shorten(maps$cells)[cell]), distance = as.vector(as.array(maps))
  )
  picture <- ggplot2::ggplot(drawn, by_column(x = "first", y = "second", fill = "distance")) +
    ggplot2::geom_raster() +
    ggplot2::scale_fill_gradient(
      "Distance", low = dark_colour, high = light_colour, na.value = "grey60",
      guide = ggplot2::guide_colourbar(
        title.position = "top", barwidth = 15, barheight = 0.5, frame.colour = "grey30",
        ticks.colour = "grey30"
      )
    ) +
    ggplot2::scale_x_continuous("Point", expand = c(0, 0)) +
    ggplot2::scale_y_reverse("Point", expand = c(0, 0)) +
    ggplot2::coord_fixed() +
    picture_theme(n > 3)
  if (n > 1) picture + panels("cell") else picture
}
