# Printing and plots of scans.

# Genomic control: the median of the squared statistics over its expectation.
genomic_control <- function(scan) {
  # log10_p already accounts for the tests' degrees of freedom.
  stats::median(stats::qchisq(-scan$log10_p * log(10), 1, lower.tail = FALSE, log.p = TRUE),
                na.rm = TRUE) / stats::qchisq(0.5, 1)
}

# The usual threshold of genome-wide significance.
genome_wide <- 5e-8

scan_methods <- c(
  ols = "least squares", mixed = "mixed model", logistic = "logistic regression",
  logistic_mixed = "logistic mixed model", firth = "Firth's logistic regression",
  firth_mixed = "logistic mixed model, effects by Firth's regression"
)

#' @export
print.variant_scan <- function(x, ...) {
  facts <- attr(x, "scan")
  tested <- sum(!is.na(x$log10_p))
  write_object("variant_scan", scan_methods[[facts$method]], c(
    samples = paste0(format_count(facts$samples),
                     if (!is.null(facts$cases)) paste(",", count_of(facts$cases, "case"))),
    variants = sprintf("%s, of which %s tested", format_count(nrow(x)), format_count(tested)),
    if (!is.null(facts$theta)) {
      c(kernels = if (!facts$loco) {
        "of all variants"
      } else if (length(facts$whole)) {
        sprintf("without the variant's chromosome, but for %s", enumerate(quoted(facts$whole)))
      } else {
        "without the variant's chromosome"
      })
    },
    if (length(facts$ratios) > 1) {
      c("z'Pz / z'Sz" = sprintf(
        "%.4g, with a standard deviation of %s over %s", mean(facts$ratios),
        format_percent(stats::sd(facts$ratios) / mean(facts$ratios)),
        count_of(length(facts$ratios), "variant")
      ))
    },
    if (tested > 0) {
      c(
        "lambda (GC)" = sprintf("%.3f, of %s", facts$lambda,
                                count_of(facts$tested, "variant")),
        "p below 5e-8" = count_of(sum(x$p < genome_wide, na.rm = TRUE), "variant")
      )
    }
  ))
  if (tested > 0) {
    shown <- utils::head(order(-x$log10_p), 6)
    print(as.data.frame(x)[shown, ], row.names = FALSE, digits = 4)
  }
  invisible(x)
}

#' @export
as.data.frame.variant_scan <- function(x, ...) {
  attr(x, "scan") <- NULL
  class(x) <- "data.frame"
  x
}

# A subset of rows stays a scan; a subset of columns is a plain table.
#' @export
`[.variant_scan` <- function(x, ...) {
  chosen <- as.data.frame(x)[...]
  if (is.data.frame(chosen) && identical(names(chosen), names(x))) {
    attributes(chosen)[c("scan", "class")] <- attributes(x)[c("scan", "class")]
  }
  chosen
}

#' Draw a scan
#'
#' `plot(scan)` draws a Manhattan plot, `plot(scan, "qq")` a quantile-quantile plot of p-values.
#' `autoplot()` returns the ggplot2 object.
#'
#' | `type` | Shows |
#' | --- | --- |
#' | `"manhattan"` | -log10 p along the genome; the dashed line is at p = 5e-8 |
#' | `"qq"` | -log10 p against its expectation under the null, and the 95 % band of each point |
#'
#' Overlapping points are drawn once. The band assumes independent variants.
#'
#' @param object,x The result of [scan_variants()].
#' @param type `"manhattan"` (the default) or `"qq"`.
#' @param ... Not used.
#' @return `autoplot()`: a `ggplot`. `plot()`: the same, invisibly.
#' @section Errors:
#' * `ancify_package_error`: ggplot2 is not installed.
#' * `ancify_input_error`: no variant was tested, or `type` is unknown.
#' @seealso [scan_variants()]
#' @name plot.variant_scan
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' stem <- tempfile()
#' calls <- matrix(sample(c(0, 2, 3), 60 * 40, replace = TRUE), 4)
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, c(1, 4, 16, 64) %*% calls)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 -9", 1:60, 1:60), paste0(stem, ".fam"))
#' variants <- sprintf("%d snp%d 0 %d G A", rep(1:2, each = 20), 1:40, 1:40)
#' writeLines(variants, paste0(stem, ".bim"))
#' g <- open_genotypes(stem)
#' data <- data.frame(id = paste0("sample", 1:60), y = rnorm(60) + as.matrix(g)[, 1])
#' scan <- scan_variants(y ~ 1, data, g, threads = 1)
#' plot(scan)
#' plot(scan, "qq")
NULL

#' @rdname plot.variant_scan
#' @usage \method{autoplot}{variant_scan}(object, type = c("manhattan", "qq"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.variant_scan <- function(object, type = c("manhattan", "qq"), # nolint: object_name_linter.
                                  ...) {
  check_method(type = choice(c("manhattan", "qq")))
  need_ggplot2()
  tested <- object[is.finite(object$log10_p), ]
  refuse_if(nrow(tested) == 0, "No variant was tested, so there is no picture.")
  if (type == "manhattan") manhattan_picture(tested) else qq_picture(tested)
}

#' @rdname plot.variant_scan
#' @export
plot.variant_scan <- function(x, type = c("manhattan", "qq"), ...) {
  draw_picture(autoplot.variant_scan(x, type, ...))
}

scan_title <- function(scan) {
  ggplot2::labs(title = sprintf(
    "%s, %s: %s", count_of(nrow(scan), "variant"),
    count_of(attr(scan, "scan")$samples, "sample"), scan_methods[[attr(scan, "scan")$method]]
  ))
}

log10_p_label <- expression(-log[10](italic(p)))

# Points without those that would overlap in a plot of usual size.
distinct_points <- function(points, x, y) {
  place <- function(values, places) round(values / max(values, 1e-300) * places)
  points[!duplicated(data.frame(place(points[[x]], 2000), place(points[[y]], 600))), ]
}

manhattan_picture <- function(scan) {
  chromosomes <- unique(scan$chromosome)
  number <- match(scan$chromosome, chromosomes)
  first <- vapply(split(scan$position, number), min, 0)
  spans <- vapply(split(scan$position, number), max, 0) - first
  # A gap between chromosomes keeps short ones apart.
  starts <- c(0, cumsum(spans + sum(spans) / 200))[seq_along(spans)]
  points <- data.frame(
    place = starts[number] + scan$position - first[number], log10_p = scan$log10_p,
    shade = factor(number %% 2)
  )
  ggplot2::ggplot(distinct_points(points, "place", "log10_p"),
                  by_column(x = "place", y = "log10_p", colour = "shade")) +
    ggplot2::geom_hline(yintercept = -log10(genome_wide), linetype = 2, colour = "grey40") +
    ggplot2::geom_point(size = 0.7) +
    ggplot2::scale_colour_manual(values = c("#4A90C2", dark_colour), guide = "none") +
    ggplot2::scale_x_continuous(
      "Chromosome", breaks = starts + spans / 2, labels = shorten(chromosomes),
      guide = ggplot2::guide_axis(check.overlap = TRUE), expand = c(0.01, 0)
    ) +
    ggplot2::scale_y_continuous(log10_p_label, limits = c(0, NA), expand = c(0, 0.1)) +
    scan_title(scan) + picture_theme()
}

qq_picture <- function(scan) {
  m <- nrow(scan)
  rank <- seq_len(m)
  bound <- function(q) -log10(stats::qbeta(q, rank, m - rank + 1))
  points <- data.frame(
    expected = -log10((rank - 0.5) / m), log10_p = sort(scan$log10_p, decreasing = TRUE),
    lower = bound(0.975), upper = bound(0.025)
  )
  ggplot2::ggplot(distinct_points(points, "expected", "log10_p"),
                  by_column(x = "expected", y = "log10_p")) +
    ggplot2::geom_ribbon(by_column(ymin = "lower", ymax = "upper"), fill = light_colour) +
    ggplot2::geom_abline(colour = "grey40") +
    ggplot2::geom_point(size = 0.7, colour = dark_colour) +
    ggplot2::labs(
      x = expression("Expected" ~ -log[10](italic(p))), y = log10_p_label,
      subtitle = sprintf("lambda (GC) %.3f", genomic_control(scan))
    ) +
    scan_title(scan) + picture_theme()
}
