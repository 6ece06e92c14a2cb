# The plot of a demographic model: populations through time, with their sizes.

#' Plot a demographic model
#'
#' Draws a model's populations through time, from the past (top) to the present (bottom):
#' `plot(demography_model("OutOfAfrica_3G09"))`. The width of a population is its size.
#'
#' | Event | Drawn as |
#' | --- | --- |
#' | sizes of [event_equilibrium()] and [event_epoch()] | width |
#' | migration of [event_epoch()] | thin arrows from source to destination |
#' | [event_split()], [event_admixture()] | bars from the ancestors, with shares if several |
#' | [event_pulse()] | thick arrows with their shares |
#' | [event_removal()], frozen populations | a population that ends |
#'
#' Only the last part of the ancestral population's time is drawn. The scale bar above the picture
#' is as wide as a population of the size next to it. Migration rates in the middle of an epoch are
#' written where space permits. Their unit is above the picture, on the left.
#'
#' @param x A [demography()].
#' @param params Values of the model's parameters, in order or named; `NULL` (the default) for a
#'   model without parameters.
#' @param reference_size Number of diploid individuals at size 1. With it, times are in generations,
#'   sizes in individuals, and migration in shares of a population per generation. `NULL` (the
#'   default): the file's size for a model from [read_demes()]. For other models times are in 2N
#'   generations, sizes in N, and migration in 2N m.
#' @param generation_time Years per generation. Together with `reference_size`, it gives times in
#'   years. `NULL` (the default): in the units of the file for a model from [read_demes()], else in
#'   generations.
#' @param populations Names of the populations at the model's end. `NULL` (the default): the sampled
#'   demes of a model from [read_demes()], else 1, 2, ...
#' @param main Title; none by default.
#' @param ... Must be empty.
#' @return `x`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: the model is invalid, a parameter is missing, or an argument cannot be
#'   used.
#' @seealso [summary.demography()] for a description in words, [write_demes()] for pictures by other
#'   programs
#' @export
#' @examples
#' plot(demography_model("split_mig"), c(nu1 = 2, nu2 = 0.5, time = 0.3, m = 1))
#' plot(demography_model("OutOfAfrica_3G09"), reference_size = 7300, generation_time = 25,
#'      populations = c("YRI", "CEU", "CHB"))
plot.demography <- function(x, params = NULL, reference_size = NULL, generation_time = NULL,
                            populations = NULL, main = NULL, ...) {
  check_no_more(...)
  events <- events_at(x, params)
  units <- demography_units(x, events, reference_size, generation_time)
  events <- core_events(events)
  check_computable(events)
  populations <- history_labels(populations %||% attr(x, "samples"), populations_after(events))
  history <- history_of_events(events)
  places <- history_places(history)
  old <- graphics::par(mar = c(2, 6.5, if (is.null(main)) 2 else 3.5, 1), las = 1,
                       mgp = c(5, 0.6, 0), tcl = -0.3)
  on.exit(graphics::par(old))
  graphics::plot.new()
  # Leave space for the last part of the ancestral population
  top <- if (history$oldest > 0) 1.15 * history$oldest else 1
  graphics::plot.window(places$range, c(0, top), yaxs = "i")
  draw_history(history, places, top, units)
  draw_time_axis(top, units)
  draw_size_bar(places, top, units)
  if (any(vapply(history$flows, nrow, 0L) > 0)) name_migration_unit(places, top, units)
  graphics::axis(1, places$centre[history$there], populations, tick = FALSE, line = -0.6)
  graphics::title(main, line = 2)
  invisible(x)
}

history_labels <- function(populations, n) {
  populations <- populations %||% seq_len(n)
  refuse_if(length(populations) != n || !is.character(populations) && !is.numeric(populations),
            "`populations` must be %s, not %s.", count_of(n, "name"), show_value(populations))
  populations
}

# list(oldest = the first event's time ago, there = indices of the populations at the end, lanes =
# indices of all populations from left to right, widths =, joins =, flows = lists of rows).
history_of_events <- function(events) {
  ago <- times_of_events(events)
  history <- list(oldest = ago[1], there = integer(), lanes = integer(), widths = list(),
                  joins = list(), flows = list())
  rows <- event_rows()
  for (i in seq_along(events)) {
    history <- rows[[events[[i]]$op]]$to_history(history, events[[i]], ago[i], ago[i + 1])
  }
  history
}

# Times ago, before each event and after the last one.
times_of_events <- function(events) {
  durations <- vapply(events, function(event) {
    if (is.null(event$end)) 0 else event$end - event$start
  }, 0)
  sum(durations) - c(0, cumsum(durations))
}

# ---- Drawing -------------------------------------------------------------------------------------

# The centre of each population, and the range of all.
history_places <- function(history) {
  widest <- numeric(length(history$lanes))
  for (part in history$widths) {
    widest[part$number] <- max(widest[part$number], part$size)
  }
  gap <- 0.5 * max(mean(widest), 0.3 * max(widest))
  in_order <- widest[history$lanes]
  centres <- cumsum(in_order + gap) - in_order / 2
  list(centre = centres[order(history$lanes)], range = c(0, sum(in_order + gap) + gap))
}

draw_history <- function(history, places, top, units) {
  colours <- grDevices::hcl.colors(max(length(history$lanes), 2), "Dark 3")
  for (join in history$joins) {
    if (!join$pulse) draw_founding(join, places)
  }
  for (part in history$widths) {
    time <- pmin(part$time, top)
    x <- places$centre[part$number]
    graphics::polygon(c(x - part$size / 2, rev(x + part$size / 2)), c(time, rev(time)),
                      col = colours[part$number], border = colours[part$number])
  }
  for (flows in history$flows) draw_flows(flows, history, places, units)
  for (join in history$joins) {
    shares <- format_percent(join$shares)
    if (join$pulse) {
      draw_arrows(join$from, join$to, join$time, history, places, shares, 2.5)
    } else if (length(shares) > 1) {
      write_above((places$centre[join$from] + places$centre[join$to]) / 2, join$time, shares)
    }
  }
}

draw_founding <- function(join, places) {
  from <- places$centre[join$from]
  to <- places$centre[join$to]
  graphics::segments(from, join$time, to, join$time, lwd = 4, lend = 1, col = "grey60")
}

draw_flows <- function(flows, history, places, units) {
  if (nrow(flows) == 0) {
    return(invisible())
  }
  rates <- vapply(flows$rate * units$rate, format, "", digits = 2)
  has_room <- min(abs(diff(flows$time)), flows$time) > 1.2 * graphics::strheight("0", cex = 0.8)
  draw_arrows(flows$from, flows$to, flows$time, history, places, if (has_room) rates, 1)
}

# Arrows from one population's edge to the other's.
draw_arrows <- function(from, to, time, history, places, labels, width) {
  ends <- Map(function(from, to, time) {
    centres <- places$centre[c(from, to)]
    widths <- c(width_at(history, from, time), width_at(history, to, time))
    centres + c(1, -1) * sign(centres[2] - centres[1]) * widths / 2
  }, from, to, time)
  x <- do.call(rbind, ends)
  graphics::arrows(x[, 1], time, x[, 2], time, 0.07, lwd = width, col = "grey20")
  if (length(labels)) write_above(rowMeans(x), time, labels)
}

width_at <- function(history, number, time) {
  for (part in history$widths) {
    within <- part$number == number && time <= part$time[1] &&
      time >= part$time[length(part$time)]
    if (within) {
      return(stats::approx(pmin(part$time, .Machine$double.xmax), part$size, time)$y)
    }
  }
  0
}

write_above <- function(x, y, text) {
  graphics::text(x, y, text, pos = 3, offset = 0.15, cex = 0.8)
}

margin_above <- function(top) top + 1.5 * graphics::strheight("0")

# In the upper margin, at the right.
draw_size_bar <- function(places, top, units) {
  size <- pretty(c(0, 0.3 * places$range[2]), 2)[2]
  unit <- units$size
  label <- paste(format_count(signif(size * unit, 3)), if (unit > 1) "individuals" else "N")
  size <- signif(size * unit, 3) / unit
  y <- margin_above(top)
  old <- graphics::par(xpd = NA)
  on.exit(graphics::par(old))
  graphics::segments(places$range[2] - size, y, places$range[2], y, lwd = 3, lend = 1)
  graphics::text(places$range[2] - size, y, label, pos = 2, cex = 0.8)
}

# In the upper margin, at the left.
name_migration_unit <- function(places, top, units) {
  graphics::text(places$range[1], margin_above(top), paste0("migration, ", units$rate_unit),
                 pos = 4, offset = 0, cex = 0.8, xpd = NA)
}

draw_time_axis <- function(top, units) {
  ticks <- pretty(c(0, top * units$time), 5)
  ticks <- ticks[ticks <= top * units$time]
  labels <- format(ticks, big.mark = ",", trim = TRUE, scientific = FALSE)
  graphics::axis(2, ticks / units$time, labels)
  graphics::title(ylab = paste0("time ago, ", units$time_unit))
}
