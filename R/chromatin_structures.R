#' Structures of distance maps
#'
#' `map_structures(x)` finds coordinates that reproduce the distances of each map: classical scaling
#' to three dimensions, then weighted stress majorisation (SMACOF).
#'
#' @details
#' Each majorisation step lowers the stress, the sum of squared errors of the observed distances.
#' Missing pairs have no weight. For exact maps, scaling alone suffices.
#'
#' Distances do not determine rotation and reflection. The axes are therefore the principal ones,
#' with signs that make the sum of the points' cubed coordinates positive. Neither rule depends on
#' the order of the points.
#'
#' A point without distances is `NA`, and so are points that no path of observed pairs connects to
#' the largest connected group.
#'
#' @param x A [distance_maps()] object.
#' @param iterations Maximum number of majorisation steps; 300 by default. With 0, only classical
#'   scaling is done.
#' @param tolerance Majorisation ends when a step lowers the stress by less than this share; a
#'   number above 0, 1e-5 by default.
#' @inheritParams distance_maps
#' @return An array of points x 3 x cells, in the unit of the maps. It has two attributes with a
#'   value for each cell: `stress`, the square root of the stress over the sum of squared distances,
#'   and `iterations`, the number of steps taken.
#' @section Errors:
#' `ancify_input_error`: an argument has the wrong type or range.
#' @references
#' de Leeuw (1977) Applications of convex analysis to multidimensional scaling. In: Recent
#' Developments in Statistics. North-Holland, 133-145.
#'
#' Borg and Groenen (2005) Modern Multidimensional Scaling. Springer.
#' @seealso [complete_maps()], [denoise_maps()]
#' @export
#' @examples
#' maps <- distance_maps(simulate_polymers(3, seed = 1))
#' found <- map_structures(maps)
#' attr(found, "stress")
#' max(abs(as.array(distance_maps(found)) - as.array(maps)))
map_structures <- function(x, iterations = 300, tolerance = 1e-5, threads = NULL) {
  check_args(x = check_maps, iterations = at_least(0), tolerance = positive(1))
  structures_of(x, new_work(threads), iterations, tolerance)
}

structures_of <- function(x, work, iterations = 300, tolerance = 1e-5) {
  fit <- with_watch("Scaling", function(watch) {
    settings <- core_list(
      "StructureSettings",
      points = x$points, iterations = iterations, tolerance = tolerance
    )
    fit_structures_impl(x$maps, settings, work, watch)
  }, work$progress)
  structure(
    array(fit$coordinates, c(x$points, 3, length(x)), list(NULL, c("x", "y", "z"), x$cells)),
    stress = fit$stress, iterations = fit$iterations
  )
}
