#' @rdname demography_fit
#' @export
plot.demography_fit <- function(x, ..., main = NULL) {
  check_method(x = check_has_spectrum)
  n <- length(dim(x$data))
  refuse_if(n > 3,
            "A fit of more than three populations has no plot. Plot spectra of marginal_sfs().")
  on_device({
    top <- if (is.null(main)) 0 else 2
    graphics::par(las = 1, mgp = c(2.2, 0.6, 0), tcl = -0.3, oma = c(0, 0, top, 0))
    if (n == 1) draw_fit_of_one(x) else draw_fit_of_pairs(x)
    graphics::title(main, outer = TRUE)
  })
  invisible(x)
}

draw_fit_of_one <- function(fit) {
  graphics::layout(matrix(1:2, 2), heights = c(2, 1))
  graphics::par(mar = c(1, 5.2, 1.5, 1))
  both <- c(as.array(fit$data), as.array(fit$expected))
  draw_bars(fit$data, "", "sites", most = max(both, na.rm = TRUE))
  expected <- as.vector(as.array(fit$expected))
  graphics::points(seq_along(expected) - 1, expected, pch = 19, col = "#cf4a67")
  graphics::legend("topright", c("data", "model"), bty = "n", fill = c("#3b6a9c", NA),
                   border = NA, pch = c(NA, 19), col = "#cf4a67")
  graphics::par(mar = c(4, 5.2, 0.5, 1))
  residuals <- as.vector(stats::residuals(fit))
  known <- which(!is.na(residuals))
  graphics::plot.new()
  graphics::plot.window(range(which(!is.na(as.array(fit$data)))) - 1 + c(-0.6, 0.6),
                        c(-1, 1) * max(abs(residuals[known]), 1), xaxs = "i")
  graphics::abline(h = 0, col = "grey60")
  graphics::segments(known - 1, 0, known - 1, residuals[known], lwd = 3, lend = 1, col = "#3b6a9c")
  graphics::axis(1)
  graphics::axis(2)
  graphics::title(xlab = copies_label(fit$data, 1), ylab = "residual")
}

# A row for each pair of populations, with data, model and residuals.
draw_fit_of_pairs <- function(fit) {
  pairs <- utils::combn(length(dim(fit$data)), 2, simplify = FALSE)
  of <- function(x) lapply(pairs, function(pair) marginal_sfs(x, pair))
  # A cell masked in either is omitted from both.
  mask <- attr(fit$data, "mask") | attr(fit$expected, "mask")
  folded <- attr(fit$data, "folded")
  left_out <- corner_mask(dim(mask)) | folded & above_half(dim(mask))
  known <- lapply(list(data = fit$data, model = fit$expected), function(x) {
    of(new_sfs(ifelse(mask, 0, plain_array(x)), names(dimnames(fit$data)), left_out, folded))
  })
  scale <- colour_scale(lapply(known$data, as.array))
  rows <- length(pairs)
  panels <- matrix(seq_len(3 * rows), rows, byrow = TRUE)
  panels <- cbind(panels[, 1:2, drop = FALSE], 3 * rows + 1, panels[, 3], 3 * rows + 2)
  graphics::layout(panels, widths = c(1, 1, graphics::lcm(2.2), 1, graphics::lcm(2.2)))
  residuals <- Map(function(model, data) sfs_residuals(model, data, multinomial = FALSE),
                   known$model, known$data)
  contrast <- contrast_scale(unlist(residuals))
  for (i in seq_len(rows)) {
    graphics::par(mar = c(4, 4, 2, 0.6))
    labels <- population_labels(fit$data)[pairs[[i]]]
    draw_heat_map(known$data[[i]], scale, labels[1], labels[2], if (i == 1) "data")
    draw_heat_map(known$model[[i]], scale, labels[1], labels[2], if (i == 1) "model")
    height <- draw_cells(residuals[[i]], function(x) contrast_colours(x, contrast), labels[1],
                         labels[2], if (i == 1) "model - data")
  }
  # Bars are as high as a single row of maps, or as the page.
  if (rows > 1) height <- Inf
  graphics::par(mar = c(4, 0.3, 2, 3.4))
  draw_scale(scale, height)
  ticks <- pretty(c(contrast$from, contrast$to), 5)
  draw_colours(contrast, ticks, ticks, "SDs", height)
}

# Colours from too few sites in the model to too many, with white between.
contrast_scale <- function(values) {
  most <- min(max(abs(values), 1, na.rm = TRUE), 10)
  ramp <- grDevices::colorRampPalette(c("#b2352d", "#f4c9b0", "white", "#b5d3e7", "#2c67a0"))
  list(from = -most, to = most, colours = ramp(65))
}

contrast_colours <- function(x, scale) {
  n <- length(scale$colours)
  share <- (pmin(pmax(x, scale$from), scale$to) - scale$from) / (scale$to - scale$from)
  scale$colours[1 + round(share * (n - 1))]
}
