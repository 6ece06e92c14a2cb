#' Draw runs and comparisons
#'
#' `plot()` draws a run or a comparison; `autoplot()` gives the ggplot2 object, to which you can add
#' themes and scales: `plot(comparison, "windows")`. Shades range from dark to light, so they remain
#' distinct in grey.
#'
#' | `type` | Shows |
#' | --- | --- |
#' | `"confidence"` | share of high, low, unresolved and missing calls; also of one run |
#' | `"agreement"` | for each pair: share of the same base where both call |
#' | `"windows"` | share of differences in each window; white if no position is called by both |
#' | `"overlap"` | number of positions called by exactly each set of runs, or by none |
#' | `"confusion"` | for each pair: share of each two different bases among the differences |
#'
#' `"confidence"` has a bar for each chromosome, below one for all chromosomes.
#'
#' If there are many chromosomes, only the longest are shown, 30 in a picture with one panel. The
#' picture gives the number or the sum of the others. With more than four runs, enlarge pictures of
#' pairs: `ggplot2::ggsave(file, autoplot(comparison, "windows"), width = 9, height = 9)`.
#'
#' @param object,x The result of [compare_calls()] or [ancify_run()].
#' @param type The picture of a comparison, as in the table; `"agreement"` by default.
#' @param ... Not used.
#' @return `autoplot()`: a `ggplot`. `plot()`: this `ggplot`, invisibly.
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
#' strict <- ancify_run(config, threads = 1, verbose = FALSE)
#' comparison <- compare_calls(voting = voting, strict = strict, window = 1000, threads = 1)
#' \donttest{
#' plot(comparison, "overlap")
#' plot(comparison, "windows")
#' }
NULL

picture_titles <- c(
  agreement = "Agreement of runs", confidence = "Confidence of calls",
  windows = "Differences along the chromosomes", overlap = "Positions that the same runs call",
  confusion = "Bases that differ"
)

#' @rdname plot.ancify_comparison
#' @usage \method{autoplot}{ancify_comparison}(object, type = c("agreement", "confidence",
#'   "windows", "overlap", "confusion"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.ancify_comparison <- function(object, # nolint: object_name_linter.
                                       type = c("agreement", "confidence", "windows",
                                                "overlap", "confusion"), ...) {
  check_method(type = choice(names(picture_titles)), object = check_comparison)
  need_ggplot2()
  picture <- switch(type,
    agreement = agreement_picture(object),
    confidence = confidence_picture(object$confidence),
    windows = windows_picture(object$windows),
    overlap = overlap_picture(object$called, object$runs$run),
    confusion = confusion_picture(object$confusion)
  )
  with_title(picture, type)
}

#' @rdname plot.ancify_comparison
#' @usage \method{autoplot}{ancify_run}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.ancify_run <- function(object, ...) { # nolint: object_name_linter.
  check_no_more(...)
  need_ggplot2()
  check_called(object, "object")
  picture <- confidence_picture(
    data.frame(run = "", unclass(object)[c("chromosome", run_counts)])
  )
  with_title(picture, "confidence")
}

with_title <- function(picture, type) picture + ggplot2::labs(title = picture_titles[[type]])

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

# ---- The pictures ------------------------------------------------------------------

pairs_as_panels <- function(first, second) {
  as_panels(paste(first, second, sep = "\n"),
            sprintf("%s\nand %s", shorten(first), shorten(second)))
}

# The colours become lighter in this order, so they remain distinct in grey.
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
# the share `lowest`, or at the lowest share of the table.
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
