#' Plot a mutation spectrum
#'
#' `plot(x)` draws bars of the types of each population (or sample). `plot(x, ratio = c("YRI",
#' "CEU"))` compares the shares of types between two of them.
#'
#' @details
#' | Call | Picture |
#' | --- | --- |
#' | `plot(x)` | for each column, a bar for each type's share, coloured by mutation |
#' | `plot(x, ratio = c(a, b))` | a heat map for each mutation, by the bases before and after it |
#'
#' Both pictures show 3-mers: longer contexts are collapsed ([collapse_contexts()]). A heat map's
#' colours are base-2 logarithms of `a`'s share over `b`'s, truncated at the ends of the scale.
#' Types that one of them lacks are white.
#'
#' @param x A [mutation_spectrum()] of all types.
#' @param ratio Names of two columns to compare. `NULL` (the default): bars.
#' @param ... Not used.
#' @param main A title. `NULL` (the default): none for bars, the two columns for heat maps.
#' @return `x`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `x` is not a spectrum, or has no counts, more than eight columns for
#'   bars, or no such columns; or contexts are single bases, for heat maps. Or the device is too
#'   small.
#' @seealso [mutation_spectrum()], [mutation_contrasts()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' calls <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "ACACGTNACG"), calls)
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1"
#' record <- "1\t4\t.\tC\tT\t.\t.\t.\tGT\t0/1"
#' writeLines(c("##fileformat=VCFv4.2", columns, record), vcf)
#' plot(mutation_spectrum(vcf, calls, threads = 1))
plot.mutation_spectrum <- function(x, ratio = NULL, ..., main = NULL) {
  check_method(x = check_whole_spectrum)
  shown <- if (bases_of_types(x) > 3) collapse_contexts(x, 3) else x
  if (!is.null(ratio)) shown <- shown[, ratio]
  check_plotted(shown, ratio)
  on_device({
    graphics::par(las = 1, mgp = c(2.4, 0.6, 0), tcl = -0.3)
    if (is.null(ratio)) draw_type_bars(shown, main) else draw_ratios(shown, main)
  })
  invisible(x)
}

most_bar_charts <- 8

check_plotted <- function(x, ratio) {
  problem <- if (ncol(x) == 0) {
    "it has no columns"
  } else if (any(colSums(x) == 0)) {
    sprintf("%s has no mutations", quoted(colnames(x)[colSums(x) == 0][1]))
  } else if (is.null(ratio) && ncol(x) > most_bar_charts) {
    sprintf("there are %d columns, but at most %d bar charts: choose some by x[, columns]", ncol(x),
            most_bar_charts)
  } else if (!is.null(ratio) && ncol(x) != 2) {
    "`ratio` must name two columns"
  } else if (!is.null(ratio) && bases_of_types(x) == 1) {
    "heat maps need contexts of 3 bases or more"
  }
  refuse_if(!is.null(problem), "Cannot plot the spectrum: %s.", problem)
}

# Colour-blind readers can distinguish these.
mutation_colours <- c("#56b4e9", "#1f1f1f", "#d55e00", "#b0b0b0", "#009e73", "#cc79a7")

draw_type_bars <- function(x, main) {
  shares <- plain_counts(x) / rep(colSums(x), each = nrow(x))
  mutation <- factor(mutation_of_type(rownames(x)))
  n <- nrow(x)
  graphics::par(
    mfrow = c(ncol(x), 1), mar = c(if (n > 6) 2 else 0.8, 5, 2.4, 1), cex.axis = 0.8, cex.lab = 0.8,
    oma = c(0, 0, if (is.null(main)) 0 else 2, 0)
  )
  for (column in colnames(x)) {
    graphics::plot.new()
    graphics::plot.window(c(0.4, n + 0.6), c(0, 1.04 * max(shares)), xaxs = "i", yaxs = "i")
    graphics::rect(seq_len(n) - 0.4, 0, seq_len(n) + 0.4, shares[, column],
                   col = mutation_colours[mutation], border = NA)
    graphics::axis(2)
    graphics::abline(h = 0)
    if (n > 6) {
      graphics::mtext(context_of_type(rownames(x)), 1, 0.2, at = seq_len(n), las = 2, cex = 0.5)
    }
    middle <- tapply(seq_len(n), mutation, mean)
    graphics::mtext(names(middle), 3, 0, at = middle, cex = 0.7, font = 2)
    graphics::title(column, line = 1.2, adj = 0)
    graphics::title(ylab = "share", line = 3.6)
  }
  graphics::title(main, outer = TRUE)
}

draw_ratios <- function(x, main) {
  shares <- plain_counts(x) / rep(colSums(x), each = nrow(x))
  ratio <- log2(shares[, 1] / shares[, 2])
  ratio[!is.finite(ratio)] <- NA
  mutation <- mutation_of_type(rownames(x))
  scale <- ratio_scale(ratio)
  mutations <- unique(mutation)
  size <- graphics::par("din")
  in_row <- if (size[1] > 2 * size[2]) 6 else 3
  cells <- cbind(matrix(1:6, ncol = in_row, byrow = TRUE), 7)
  graphics::layout(cells, widths = c(rep(1, in_row), graphics::lcm(2.8)))
  graphics::par(mar = c(3, 3, 2, 0.4), oma = c(0, 0, 2.4, 0), cex = 0.66, pty = "s")
  for (i in seq_along(mutations)) {
    # Matrix rows are the base after the site: types are sorted by the base before it.
    draw_bases(matrix(ratio[mutation == mutations[i]], 4), scale, mutations[i])
  }
  graphics::par(mar = c(3, 0.6, 2, 4), pty = "m")
  ticks <- pretty(c(scale$from, scale$to), 5)
  ticks <- ticks[ticks >= scale$from & ticks <= scale$to]
  draw_colours(scale, ticks, format(ticks), "log2")
  graphics::title(
    main %||% sprintf("Shares in %s over those in %s", colnames(x)[1], colnames(x)[2]), outer = TRUE
  )
}

# Symmetric around 0, so that white means no difference.
ratio_scale <- function(ratio) {
  most <- max(min(max(abs(ratio), 0, na.rm = TRUE), 3), 0.01)
  ramp <- grDevices::colorRampPalette(c("#2166ac", "#f7f7f7", "#b2182b"), space = "Lab")
  list(from = -most, to = most, colours = ramp(65))
}

draw_bases <- function(cells, scale, title) {
  bases <- c("A", "C", "G", "T")
  graphics::plot.new()
  graphics::plot.window(c(0.5, 4.5), c(4.5, 0.5), xaxs = "i", yaxs = "i")
  share <- (pmin(pmax(cells, scale$from), scale$to) - scale$from) / (scale$to - scale$from)
  colours <- scale$colours[1 + round(share * (length(scale$colours) - 1))]
  at <- arrayInd(seq_along(cells), dim(cells))
  graphics::rect(at[, 1] - 0.5, at[, 2] - 0.5, at[, 1] + 0.5, at[, 2] + 0.5, col = colours,
                 border = "white")
  for (side in 1:2) {
    graphics::mtext(bases, side, 0.4, at = 1:4, las = 1, cex = 0.6)
    graphics::mtext(c("base after", "base before")[side], side, 1.5, las = 0, cex = 0.6)
  }
  graphics::mtext(title, 3, 0.4, font = 2, cex = 0.7)
}
