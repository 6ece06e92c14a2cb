#' Draw two-locus statistics
#'
#' Draws ratios of two-locus statistics against the distance of sites: `plot(x)`. Points are
#' measurements, with bars of two standard errors if there are blocks. Lines are expectations of a
#' model.
#'
#' A point is at the geometric mean of its bin's limits, or at half the upper limit if the bin
#' starts at 0.
#'
#' @param x An object of [ld_statistics()] or [ld_ratios()].
#' @param ... Not used.
#' @param model Expected statistics of a model, with the same bins and populations. `NULL` (the
#'   default): none.
#' @param statistics Names of statistics to draw. Default: all `DD`, so \eqn{\sigma_d^2}.
#' @return A `ggplot`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `x` has no such statistics, or `model` has other bins, populations or
#'   another reference.
#' * `ancify_package_error`: ggplot2 is not installed.
#' @seealso [ld_statistics()], [ld_methods]
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' calls <- matrix(rbinom(20 * 40, 2, 0.3), 20, dimnames = list(paste0("s", 1:20), NULL))
#' g <- open_genotypes(calls, data.frame(chromosome = "1", position = 1000 * 1:40))
#' plot(ld_statistics(g, map = 1e-8, bins = c(0, 1e-4, 2e-4), threads = 1))
plot.ld_statistics <- function(x, ..., model = NULL, statistics = NULL) {
  check_no_more(...)
  need_ggplot2()
  ratios <- if (is.null(x$reference)) ld_ratios(x) else x
  table <- ld_table(x$populations)
  statistics <- statistics %||% table$name[table$kind == "DD"]
  check_drawn(statistics, table$name)
  rows <- drawn_rows(ratios, statistics)
  beside <- ggplot2::position_dodge(width = 0.12)
  picture <- ggplot2::ggplot(
    rows, by_column(x = "distance", y = "value", colour = "statistic")
  ) +
    ggplot2::geom_point(position = beside)
  if (!is.null(rows$std_error) && !all(is.na(rows$std_error))) {
    picture <- picture +
      ggplot2::geom_linerange(by_column(ymin = "low", ymax = "high"), position = beside)
  }
  if (!is.null(model)) {
    expected <- drawn_rows(expected_ratios(model, ratios), statistics)
    picture <- picture + ggplot2::geom_line(data = expected)
  }
  picture <- picture + ggplot2::scale_x_log10() +
    ggplot2::scale_colour_viridis_d(end = 0.85) +
    ggplot2::labs(
      x = "Distance (Morgans)", y = sprintf("Ratio to pi2 of %s", ratios$reference), colour = NULL
    ) +
    picture_theme()
  draw_picture(picture)
}

check_drawn <- function(statistics, names) {
  unknown <- setdiff(statistics, names)
  refuse_if(!length(statistics) || length(unknown), "`statistics` must be of %s, not %s.",
            enumerate(quoted(names)),
            if (length(unknown)) enumerate(quoted(unknown)) else show_value(statistics))
}

expected_ratios <- function(model, ratios) {
  check_ld(model, "model")
  if (is.null(model$reference) && ratios$reference %in% model$populations) {
    model <- ld_ratios(model, ratios$reference)
  }
  refuse_if(!identical(model$populations, ratios$populations) ||
              !isTRUE(all.equal(model$bins, ratios$bins)) ||
              !identical(model$reference, ratios$reference),
            "`model` must have the bins, populations and reference of `x`.")
  model
}

# Rows to draw: bins with pairs, with their distances and error bars.
drawn_rows <- function(ratios, statistics) {
  rows <- as.data.frame(ratios)
  rows <- rows[rows$statistic %in% statistics & !is.na(rows$value), ]
  rows$distance <- ifelse(rows$lower > 0, sqrt(rows$lower * rows$upper), rows$upper / 2)
  if (!is.null(rows$std_error)) {
    rows$low <- rows$value - 2 * rows$std_error
    rows$high <- rows$value + 2 * rows$std_error
  }
  rows$statistic <- factor(rows$statistic, statistics)
  rows
}
