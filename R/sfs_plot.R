#' Plot a spectrum
#'
#' `plot(x)` draws a spectrum as bar charts and heat maps.
#'
#' @details
#' | Populations | Picture |
#' | --- | --- |
#' | one | a bar chart of sites by copies of the derived allele |
#' | two | a heat map on a logarithmic scale |
#' | more | a heat map of each pair, and each population's bar chart on the diagonal |
#'
#' Pairs and single populations are those of [marginal_sfs()]. Masked cells are omitted: they are
#' white in a heat map. Cells without sites are grey.
#'
#' Colours range from light to dark, for print and for colour-blind readers. All pairs share one
#' scale of at most four orders of magnitude. Rarer cells have the lightest colour.
#'
#' @param x An [sfs()].
#' @param ... Not used.
#' @param main A title. `NULL` (the default): none.
#' @return `x`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `x` is not a valid spectrum, or no unmasked cell has sites; or the device
#'   is too small.
#' @seealso [sfs()]
#' @export
#' @examples
#' plot(sfs(c(0, 12, 5, 3, 2, 0), "YRI"))
#' plot(sfs(outer(c(0, 8:2), c(0, 20, 9, 4, 2)), c("YRI", "CEU")))
plot.sfs <- function(x, ..., main = NULL) {
  check_method(x = check_sfs)
  shown <- as.array(x)
  refuse_if(!any(shown > 0, na.rm = TRUE), "There is nothing to plot: no unmasked cell has sites.")
  on_device({
    graphics::par(las = 1, mgp = c(2.4, 0.6, 0), tcl = -0.3)
    n <- length(dim(x))
    if (n == 1) {
      graphics::par(mar = c(4, 5.2, if (is.null(main)) 1 else 3, 1))
      draw_bars(x, copies_label(x, 1), "sites", main)
    } else if (n == 2) {
      draw_two(x, main)
    } else {
      draw_pairs(x, main)
    }
  })
  invisible(x)
}

copies_label <- function(x, k) {
  allele <- if (attr(x, "folded")) "rarer" else "derived"
  sprintf("copies of the %s allele in %s", allele, population_labels(x)[k])
}

# A bar chart of one population's spectrum, without masked cells.
draw_bars <- function(x, xlab, ylab, main = NULL, most = 0) {
  sites <- as.vector(as.array(x))
  known <- which(!is.na(sites))
  copies <- if (length(known)) seq(min(known), max(known)) - 1 else 0
  sites <- pmax(sites[copies + 1], 0)
  graphics::plot.new()
  top <- max(sites, most, 1e-9, na.rm = TRUE) * 1.04
  graphics::plot.window(range(copies) + c(-0.6, 0.6), c(0, top), yaxs = "i", xaxs = "i")
  graphics::rect(copies - 0.42, 0, copies + 0.42, sites, col = "#3b6a9c", border = NA)
  graphics::abline(h = 0)
  ticks <- pretty(copies)
  ticks <- c(copies[1], ticks[ticks > copies[1] + diff(ticks)[1] / 2])
  graphics::axis(1, ticks[ticks %in% copies], lwd = 0, lwd.ticks = 1)
  heights <- graphics::axTicks(2)
  graphics::axis(2, heights, format(heights, big.mark = ",", scientific = FALSE, trim = TRUE))
  graphics::title(xlab = xlab, main = main)
  graphics::title(ylab = ylab, line = 3.8)
}

draw_two <- function(x, main) {
  scale <- colour_scale(list(as.array(x)))
  graphics::layout(matrix(1:2, 1), widths = c(1, graphics::lcm(2.6)))
  graphics::par(mar = c(4, 4, if (is.null(main)) 1 else 3, 1))
  height <- draw_heat_map(x, scale, copies_label(x, 1), copies_label(x, 2), main)
  graphics::par(mar = c(4, 0.3, if (is.null(main)) 1.8 else 3, 3.6))
  draw_scale(scale, height)
}

draw_pairs <- function(x, main) {
  n <- length(dim(x))
  labels <- population_labels(x)
  pairs <- utils::combn(n, 2, simplify = FALSE)
  joint <- lapply(pairs, function(pair) marginal_sfs(x, pair))
  scale <- colour_scale(lapply(joint, as.array))
  panels <- matrix(0, n, n)
  panels[lower.tri(panels)] <- seq_along(pairs)
  diag(panels) <- length(pairs) + seq_len(n)
  panels[seq_len(n %/% 2), n] <- length(pairs) + n + 1
  graphics::layout(panels)
  graphics::par(
    mar = c(2.2, 2.6, 1.4, 0.6), oma = c(3, 1.8, if (is.null(main)) 0.5 else 2.5, 0.5),
    mgp = c(1.6, 0.5, 0), cex = 0.75
  )
  for (i in seq_along(pairs)) {
    row <- pairs[[i]][2]
    column <- pairs[[i]][1]
    draw_heat_map(joint[[i]], scale, "", "")
    if (row == n) graphics::mtext(labels[column], 1, 2, cex = 0.75)
    if (column == 1) graphics::mtext(labels[row], 2, 2.2, las = 0, cex = 0.75)
  }
  for (k in seq_len(n)) {
    draw_bars(marginal_sfs(x, k), "", "")
    graphics::mtext(sprintf("%s, sites", labels[k]), 3, 0.2, cex = 0.75)
    if (k == n) graphics::mtext(labels[k], 1, 2, cex = 0.75)
  }
  graphics::par(mar = c(1.4, 3, 1.4, 5))
  draw_scale(scale)
  allele <- if (attr(x, "folded")) "rarer" else "derived"
  graphics::mtext(sprintf("copies of the %s allele", allele), 1, 1.6, outer = TRUE, cex = 0.8)
  graphics::title(main, outer = TRUE)
}

# ---- Colours --------------------------------------------------------------------------

most_magnitudes <- 4

# Colours for all positive counts of these arrays. `from` and `to` are decimal logarithms.
colour_scale <- function(arrays) {
  sites <- unlist(arrays)
  sites <- sites[!is.na(sites) & sites > 0]
  top <- log10(max(sites))
  bottom <- max(log10(min(sites)), top - most_magnitudes)
  if (top - bottom < 0.5) bottom <- top - 0.5
  ramp <- grDevices::colorRampPalette(
    c("#fbdf9d", "#f29c5c", "#cf4a67", "#7b2382", "#1d0c45"), space = "Lab"
  )
  list(from = bottom, to = top, colours = ramp(64))
}

colours_of <- function(sites, scale) {
  share <- (log10(pmax(sites, 10^scale$from)) - scale$from) / (scale$to - scale$from)
  colours <- scale$colours[1 + floor(share * (length(scale$colours) - 1))]
  colours[!is.na(sites) & sites <= 0] <- "grey90"
  colours
}

draw_heat_map <- function(x, scale, xlab, ylab, main = NULL) {
  draw_cells(as.array(x), function(sites) colours_of(sites, scale), xlab, ylab, main)
}

# A rectangle for each pair of copies. Masked cells stay white. Returns the map's height in inches.
draw_cells <- function(shown, colours, xlab, ylab, main = NULL) {
  n <- dim(shown) - 1
  # Both axes count copies.
  old <- graphics::par(pty = "s")
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(c(-0.5, n[1] + 0.5), c(-0.5, n[2] + 0.5), xaxs = "i", yaxs = "i")
  known <- which(!is.na(shown))
  at <- arrayInd(known, dim(shown)) - 1
  graphics::rect(
    at[, 1] - 0.5, at[, 2] - 0.5, at[, 1] + 0.5, at[, 2] + 0.5, col = colours(shown[known]),
    border = NA
  )
  graphics::box(col = "grey40")
  whole_ticks <- function(side, n) {
    ticks <- pretty(c(0, n))
    graphics::axis(side, ticks[ticks <= n & ticks == round(ticks)])
  }
  whole_ticks(1, n[1])
  whole_ticks(2, n[2])
  graphics::title(xlab = xlab, ylab = "", main = main)
  graphics::title(ylab = ylab)
  invisible(graphics::par("pin")[2])
}

draw_scale <- function(scale, height = Inf) {
  ticks <- scale_ticks(scale)
  draw_colours(scale, log10(ticks), vapply(ticks, format_tick, ""), "sites", height)
}

# Powers of ten; if these are few, also 2 and 5 times each.
scale_ticks <- function(scale) {
  powers <- 10^seq(floor(scale$from), ceiling(scale$to))
  inside <- function(ticks) {
    ticks[log10(ticks) >= scale$from - 1e-9 & log10(ticks) <= scale$to + 1e-9]
  }
  ticks <- inside(powers)
  if (length(ticks) < 3) ticks <- inside(sort(c(powers, 2 * powers, 5 * powers)))
  ticks
}

format_tick <- function(x) format(x, big.mark = ",", scientific = x < 1e-4 || x >= 1e7)
