#' Draw runs and comparisons
#'
#' `plot()` draws a run or a comparison; `autoplot()` gives the ggplot2 object, to which you can add
#' themes and scales: `plot(comparison, "windows")`. Shades go from dark to light, also in grey.
#'
#' | `type` | Shows |
#' | --- | --- |
#' | `"confidence"` | share of high, low, unresolved and missing calls; also of one run |
#' | `"agreement"` | for each pair: share of the same base where both call |
#' | `"windows"` | share of differences in each window; white if no position is called by both |
#' | `"overlap"` | number of positions that just these runs call, or none |
#' | `"confusion"` | for each pair: which bases differ, and how often |
#'
#' `"confidence"` has a bar for each chromosome, and one for all at the top.
#'
#' Of many chromosomes only the longest are shown, 30 in a picture with one panel. The picture gives
#' the number of the others, or their sum. With more than four runs, draw pictures of pairs large:
#' `ggplot2::ggsave(file, autoplot(comparison, "windows"), width = 9, height = 9)`.
#'
#' @param object,x The result of [compare_calls()] or [ancify_run()].
#' @param type The picture of a comparison, as in the table; `"agreement"` by default.
#' @param ... Not used.
#' @return `autoplot()`: a `ggplot`. `plot()`: the same, invisibly.
#' @section Errors:
#' * `ancify_package_error`: ggplot2 is not installed.
#' * `ancify_input_error`: a run has no calls, a run or comparison is incomplete, or `type` is
#'   unknown.
#' @seealso [compare_calls()], [ancify_run()]; [ancify_report()] for a page with these pictures
#' @name plot.ancify_comparison
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' config <- ancify_example()
#' voting <- ancify_run(config, threads = 1, verbose = FALSE)
#' plot(voting)
#' config$min_inner_freq <- 2
#' config$output_dir <- file.path(tempdir(), "strict")
#' strict <- ancify_run(config, "call", threads = 1, verbose = FALSE)
#' comparison <- compare_calls(voting = voting, strict = strict, window = 1000, threads = 1)
#' \donttest{
#' plot(comparison, "overlap")
#' plot(comparison, "windows")
#' }
NULL

picture_types <- c("agreement", "confidence", "windows", "overlap", "confusion")

#' @rdname plot.ancify_comparison
#' @usage \method{autoplot}{ancify_comparison}(object, type = c("agreement", "confidence",
#'   "windows", "overlap", "confusion"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.ancify_comparison <- function(object, # nolint: object_name_linter.
                                       type = c("agreement", "confidence", "windows",
                                                "overlap", "confusion"), ...) {
  check_no_more(...)
  type <- check_choice(type, picture_types, "type")
  check_comparison(object, "object")
  need_ggplot2()
  switch(type,
    agreement = agreement_picture(object),
    confidence = confidence_picture(object$confidence),
    windows = windows_picture(object$windows),
    overlap = overlap_picture(object$called, object$runs$run),
    confusion = confusion_picture(object$confusion)
  )
}

#' @rdname plot.ancify_comparison
#' @usage \method{autoplot}{ancify_run}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.ancify_run <- function(object, ...) { # nolint: object_name_linter.
  check_no_more(...)
  need_ggplot2()
  check_called(object, "object")
  confidence_picture(data.frame(run = "", unclass(object)[c("chromosome", run_counts)]))
}

#' @rdname plot.ancify_comparison
#' @export
plot.ancify_comparison <- function(x, type = c("agreement", "confidence", "windows", "overlap",
                                               "confusion"), ...) {
  draw_picture(autoplot.ancify_comparison(x, type, ...))
}

#' @rdname plot.ancify_comparison
#' @export
plot.ancify_run <- function(x, ...) {
  draw_picture(autoplot.ancify_run(x, ...))
}

draw_picture <- function(picture) {
  print(picture)
  invisible(picture)
}

need_ggplot2 <- function() need_packages("ggplot2", "Pictures")

# ---- Parts of all pictures ---------------------------------------------------------

# Aesthetics from column names.
by_column <- function(...) {
  ggplot2::aes(!!!lapply(list(...), as.name))
}

picture_theme <- function(crowded = FALSE) {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      plot.background = ggplot2::element_rect(fill = "white", colour = NA),
      panel.grid = ggplot2::element_blank(), legend.position = "bottom",
      plot.title.position = "plot", plot.caption.position = "plot",
      strip.text = ggplot2::element_text(hjust = 0, size = 9), strip.clip = "off",
      panel.spacing.x = ggplot2::unit(30, "pt"), plot.margin = ggplot2::margin(6, 20, 6, 6),
      axis.text = ggplot2::element_text(size = if (crowded) 7 else 9)
    )
}

light_colour <- "#DCE9F5"

dark_colour <- "#08306B"

# From light to dark.
shades <- function(name, values) {
  ggplot2::scale_fill_gradient(
    name, low = light_colour, high = dark_colour, na.value = "white", labels = percent,
    limits = shade_limits(values), breaks = shade_breaks,
    guide = ggplot2::guide_colourbar(
      title.position = "top", barwidth = 15, barheight = 0.5, frame.colour = "grey30",
      ticks.colour = "grey30"
    )
  )
}

# Both ends of the range, and round numbers that are far enough from them for their labels.
shade_breaks <- function(limits) {
  inner <- pretty(limits, 3)
  gap <- diff(limits) / 6
  c(limits[1], inner[inner > limits[1] + gap & inner < limits[2] - gap], limits[2])
}

# The range of shares. A gradient needs two different limits.
shade_limits <- function(values) {
  known <- values[is.finite(values)]
  if (length(known) == 0) {
    c(0, 1)
  } else if (diff(range(known)) == 0) {
    pmin(pmax(known[1] + c(-0.01, 0.01), 0), 1)
  } else {
    range(known)
  }
}

# A layer of labels in a colour that is readable on shades of `values`. `data` has a column `label`.
labels_on_shades <- function(data, values, size) {
  limits <- shade_limits(values)
  data$ink <- ifelse(!is.na(data$share) & data$share > limits[1] + 0.6 * diff(limits),
                     "white", "black")
  list(
    ggplot2::geom_text(by_column(label = "label", colour = "ink"), data, size = size),
    ggplot2::scale_colour_identity()
  )
}

percent <- function(share) {
  paste(format(100 * share, digits = 4, trim = TRUE, drop0trailing = TRUE), "%")
}

# Long names keep their beginning and end. ASCII alone: not every device draws an ellipsis.
shorten <- function(names) {
  most <- 27
  half <- (most - 3) %/% 2
  end <- nchar(names)
  short <- paste0(substr(names, 1, half), "...", substr(names, end - half + 1, end))
  ifelse(end > most, short, names)
}

# Three panels in a row.
panels <- function(column) {
  ggplot2::facet_wrap(column, ncol = 3)
}

most_rows_drawn <- function(n_panels) {
  if (n_panels <= 3) 30 else max(36 %/% ceiling(n_panels / 3), 6)
}

# A factor for the y axis: from top to bottom in the order of the names.
downwards <- function(names, levels = unique(names)) {
  factor(names, rev(levels))
}

# Names as panels, in their order. Equal labels get numbers.
as_panels <- function(names, labels) {
  panels <- factor(names, unique(names))
  levels(panels) <- make.unique(labels[match(levels(panels), names)], " ")
  panels
}

pairs_as_panels <- function(first, second) {
  as_panels(paste(first, second, sep = "\n"),
            sprintf("%s\nand %s", shorten(first), shorten(second)))
}

# ---- The pictures ------------------------------------------------------------------

# From dark to light, also in grey.
confidence_colours <- c(
  high = "#08306B", low = "#4A90C2", unresolved = "#F2B457", missing = "#EEEEEE"
)

confidence_picture <- function(table) {
  n_runs <- length(unique(table$run))
  table <- sum_up_short(table, most_rows_drawn(n_runs))
  shares <- as.matrix(table[confidences]) / table$length
  long <- data.frame(
    run = as_panels(table$run, shorten(table$run)),
    chromosome = downwards(table$chromosome),
    confidence = factor(rep(confidences, each = nrow(table)), rev(confidences)),
    share = c(shares)
  )
  picture <- ggplot2::ggplot(long, by_column(x = "share", y = "chromosome", fill = "confidence")) +
    ggplot2::geom_col(width = 0.85, colour = "grey30", linewidth = 0.2) +
    ggplot2::scale_fill_manual(NULL, values = confidence_colours, breaks = confidences) +
    ggplot2::scale_x_continuous(
      "Share of positions", labels = percent, expand = c(0, 0), breaks = c(0, 0.5, 1)
    ) +
    ggplot2::scale_y_discrete(NULL, labels = shorten) +
    picture_theme(nlevels(long$chromosome) > 15 || n_runs > 3)
  if (n_runs > 1) picture + panels("run") else picture
}

# "all", then the longest chromosomes in their order, then the sum of the others.
sum_up_short <- function(table, most) {
  one_run <- function(rows) {
    sum_of <- function(rows, name) {
      data.frame(run = rows$run[1], chromosome = name, t(colSums(rows[run_counts])))
    }
    shown <- sort(utils::head(order(-rows$length), most))
    rows <- rows[c("run", "chromosome", run_counts)]
    others <- rows[-shown, ]
    rbind(
      if (nrow(rows) > 1) sum_of(rows, "all"), rows[shown, ],
      if (nrow(others)) sum_of(others, sprintf("%s others", format_count(nrow(others))))
    )
  }
  do.call(rbind, lapply(split(table, factor(table$run, unique(table$run))), one_run))
}

agreement_picture <- function(comparison) {
  table <- summary(comparison)
  table <- data.frame(
    first = factor(table$first, comparison$runs$run),
    second = downwards(table$second, comparison$runs$run), share = table$agreement
  )
  table$label <- ifelse(is.finite(table$share), sprintf("%.2f %%", 100 * table$share), "none")
  ggplot2::ggplot(table, by_column(x = "first", y = "second", fill = "share")) +
    ggplot2::geom_tile(colour = "white", linewidth = 1) +
    labels_on_shades(table, table$share, if (nrow(comparison$runs) > 6) 2.4 else 3.6) +
    shades("Same base where both call", table$share) +
    ggplot2::scale_x_discrete(NULL, labels = shorten) +
    ggplot2::scale_y_discrete(NULL, labels = shorten) +
    picture_theme() +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 30, hjust = 1))
}

windows_picture <- function(table) {
  table$panel <- pairs_as_panels(table$first, table$second)
  table$share <- ifelse(table$both > 0, table$differ / table$both, NA_real_)
  along_chromosomes(table, "Differ where both call", lowest = 0) + panels("panel")
}

# Shares in windows of chromosomes: columns chromosome, start, end, panel and share. Shades begin at
# the share `lowest`, or at the lowest of the table.
along_chromosomes <- function(table, title, lowest = NULL) {
  ends <- tapply(table$end, factor(table$chromosome, unique(table$chromosome)), max)
  n_panels <- nlevels(table$panel)
  shown <- names(ends)[sort(utils::head(order(-ends), most_rows_drawn(n_panels)))]
  unit <- if (max(ends) >= 1e6) c(Mb = 1e6) else c(kb = 1e3)
  drawn <- table[table$chromosome %in% shown, ]
  drawn <- data.frame(
    chromosome = downwards(drawn$chromosome, shown),
    middle = (drawn$start - 1 + drawn$end) / 2 / unit, width = (drawn$end - drawn$start + 1) / unit,
    panel = drawn$panel, share = drawn$share
  )
  outlines <- data.frame(
    chromosome = downwards(shown, shown), middle = ends[shown] / 2 / unit,
    width = ends[shown] / unit
  )
  ggplot2::ggplot(drawn, by_column(x = "middle", y = "chromosome", width = "width")) +
    ggplot2::geom_tile(by_column(fill = "share"), height = 0.75) +
    ggplot2::geom_tile(
      data = outlines, height = 0.75, fill = NA, colour = "grey40", linewidth = 0.2
    ) +
    shades(title, c(lowest, drawn$share)) +
    ggplot2::scale_x_continuous(
      sprintf("Position (%s)", names(unit)), expand = c(0.01, 0), n.breaks = 4
    ) +
    ggplot2::scale_y_discrete(NULL, labels = shorten) +
    ggplot2::labs(caption = not_shown(length(ends) - length(shown))) +
    picture_theme(length(shown) > 15 || n_panels > 3)
}

not_shown <- function(n, what = "shorter chromosomes") {
  if (n > 0) sprintf("%s %s are not shown.", format_count(n), what)
}

overlap_picture <- function(table, runs) {
  totals <- tapply(table$positions, factor(table$called_by, unique(table$called_by)), sum)
  totals <- totals[totals > 0]
  shown <- utils::head(totals[order(-totals)], 15)
  drawn <- data.frame(
    called_by = downwards(names(shown)), share = unname(c(shown)) / sum(totals),
    none = names(shown) == "none"
  )
  drawn$label <- sprintf("%s (%.2f %%)", vapply(c(shown), format_count, ""), 100 * drawn$share)
  ggplot2::ggplot(drawn, by_column(x = "share", y = "called_by", fill = "none")) +
    ggplot2::geom_col(width = 0.75, colour = "grey30", linewidth = 0.2) +
    ggplot2::geom_text(by_column(label = "label"), hjust = -0.05, size = 3) +
    ggplot2::scale_fill_manual(
      values = c("FALSE" = dark_colour, "TRUE" = "#EEEEEE"), guide = "none"
    ) +
    ggplot2::scale_x_continuous(
      "Share of positions", labels = percent, expand = ggplot2::expansion(c(0, 0.4)),
      breaks = function(limits) Filter(function(share) share <= 1, pretty(c(0, limits[2]), 4))
    ) +
    ggplot2::scale_y_discrete("Called by", labels = function(sets) name_sets(sets, runs)) +
    ggplot2::labs(caption = not_shown(length(totals) - length(shown), "rarer sets of runs")) +
    picture_theme()
}

# Large sets are named by the runs that they lack.
name_sets <- function(sets, runs) {
  vapply(strsplit(sets, " + ", fixed = TRUE), function(set) {
    lacking <- setdiff(runs, set)
    text <- if (length(runs) > 2 && length(lacking) == 0) {
      "all"
    } else if (length(runs) > 2 && length(lacking) < length(runs) / 2) {
      paste("all but", paste(shorten(lacking), collapse = " and "))
    } else {
      paste(shorten(set), collapse = " + ")
    }
    paste(strwrap(text, 44), collapse = "\n")
  }, "")
}

confusion_picture <- function(table) {
  differ <- table[table$first_base != table$second_base, ]
  sums <- stats::ave(differ$positions, differ$first, differ$second, FUN = sum)
  share <- ifelse(sums > 0, differ$positions / sums, NA_real_)
  pair <- pairs_as_panels(differ$first, differ$second)
  levels(pair) <- sprintf("%s\n%s positions", levels(pair),
                          vapply(sums[match(levels(pair), pair)], format_count, ""))
  drawn <- data.frame(
    second_base = differ$second_base,
    first_base = downwards(differ$first_base, c("A", "C", "G", "T")), pair = pair, share = share,
    label = ifelse(is.na(share), "", sprintf("%.1f %%", 100 * share))
  )
  ggplot2::ggplot(drawn, by_column(x = "second_base", y = "first_base", fill = "share")) +
    ggplot2::geom_tile(colour = "white", linewidth = 1) +
    labels_on_shades(drawn, c(0, share), 2.5) +
    shades("Share of the positions where they differ", c(0, share)) +
    panels("pair") +
    ggplot2::labs(
      x = "Base of the second", y = "Base of the first",
      caption = "A and G, C and T: transitions; all others: transversions."
    ) +
    picture_theme()
}
