# Printing, pictures and files of selection scans.

selection_statistics <- c("tajima_d", "fay_wu_h", setdiff(names(neutrality_tests), "tajima_d"))

#' @export
print.selection_scan <- function(x, ...) {
  facts <- attr(x, "scan")
  records <- attr(x, "records")
  write_object("selection_scan", sprintf("%s in windows of %s", count_of(nrow(x), "row"),
                                         format_count(facts$window)), c(
    populations = paste(sprintf("%s (%d haplotypes)", unique(x$population),
                                x$haplotypes[!duplicated(x$population)]), collapse = ", "),
    sites = format_count(records$records[records$reason == "USED"]),
    `ancestral alleles` = if (!facts$posteriors) {
      "taken as certain, as the sites have no posteriors"
    } else if (facts$calls == "hard") {
      "taken as certain"
    } else {
      "weighted by their posteriors"
    }
  ))
  shown <- utils::head(order(x$zeng_h), 6)
  cat("Lowest normalised H (zeng_h):\n")
  columns <- c("chromosome", "start", "end", "population", "segregating", "tajima_d", "zeng_h",
               "zeng_e")
  print(as.data.frame(x)[shown, columns], row.names = FALSE, digits = 4)
  invisible(x)
}

#' @export
as.data.frame.selection_scan <- function(x, ...) {
  attr(x, "scan") <- attr(x, "records") <- NULL
  class(x) <- "data.frame"
  x
}

#' Plot and export a selection scan
#'
#' `plot()` draws a statistic along the genome, `write_bedgraph()` writes it for genome browsers.
#'
#' @param x,object A [selection_scan()].
#' @param statistic A column of `x`, such as `"zeng_h"` (the default).
#' @param population One of the populations of `x`; the first by default.
#' @param file Path of the file. Missing folders are created.
#' @param ... Not used.
#' @return `plot()`: the picture, invisibly. `autoplot()`: a ggplot. `write_bedgraph()`: the path,
#'   invisibly. Windows without a value are left out.
#' @section Errors:
#' * `ancify_input_error`: `statistic` is no numeric column, `population` is not in `x`, or no
#'   window has a value. Or windows overlap, which bedGraph does not allow.
#' * `ancify_file_error` (field `file`): the file cannot be written.
#' * `ancify_package_error`: the picture needs ggplot2.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE) && !is.na(ancify_build_info()$htslib)
#' set.seed(1)
#' genotypes <- function() paste(sample(c("0|0", "0|1", "1|1"), 4, TRUE), collapse = "\t")
#' records <- sprintf("1\t%d\t.\tA\tC\t.\t.\tAA=A\tGT\t%s", sort(sample(1e5, 50)),
#'                    replicate(50, genotypes()))
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2\ts3\ts4"
#' writeLines(c("##fileformat=VCFv4.2", columns, records), vcf)
#' populations <- c(s1 = "YRI", s2 = "YRI", s3 = "YRI", s4 = "YRI")
#' scan <- selection_scan(vcf, populations, window = 20000, threads = 1)
#' plot(scan, "tajima_d")
#' readLines(write_bedgraph(scan, tempfile(), "tajima_d"))
#' @name plot.selection_scan
NULL

#' @rdname plot.selection_scan
#' @usage \method{autoplot}{selection_scan}(object, statistic = "zeng_h", population = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.selection_scan <- function(object, statistic = "zeng_h", # nolint: object_name_linter.
                                    population = NULL, ...) {
  check_method()
  need_ggplot2()
  rows <- statistic_rows(object, statistic, population)
  chromosomes <- unique(rows$chromosome)
  number <- match(rows$chromosome, chromosomes)
  middle <- (rows$start + rows$end - 1) / 2
  first <- vapply(split(middle, number), min, 0)
  spans <- vapply(split(middle, number), max, 0) - first
  one <- length(chromosomes) == 1
  # A gap between chromosomes keeps short ones apart.
  starts <- if (one) first else c(0, cumsum(spans + sum(spans) / 200))[seq_along(spans)]
  points <- data.frame(place = starts[number] + middle - first[number], value = rows$value,
                       shade = factor(number %% 2))
  ggplot2::ggplot(points, by_column(x = "place", y = "value", colour = "shade")) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey60") +
    ggplot2::geom_point(size = 0.7) +
    ggplot2::scale_colour_manual(values = c("#4A90C2", dark_colour), guide = "none") +
    ggplot2::scale_x_continuous(
      if (one) sprintf("Position on chromosome %s (Mb)", chromosomes) else "Chromosome",
      breaks = if (one) ggplot2::waiver() else starts + spans / 2,
      labels = if (one) function(at) format(at / 1e6, trim = TRUE) else shorten(chromosomes),
      guide = ggplot2::guide_axis(check.overlap = TRUE), expand = c(0.01, 0)
    ) +
    ggplot2::labs(y = statistic, title = sprintf("%s, windows of %s bases", rows$population[1],
                                                 format_count(attr(object, "scan")$window))) +
    picture_theme()
}

#' @rdname plot.selection_scan
#' @export
plot.selection_scan <- function(x, statistic = "zeng_h", population = NULL, ...) {
  draw_picture(autoplot.selection_scan(x, statistic, population, ...))
}

#' @rdname plot.selection_scan
#' @export
write_bedgraph <- function(x, file, statistic = "zeng_h", population = NULL) {
  check_args(x = of_class("selection_scan", "a selection_scan()"), file = file_out())
  rows <- statistic_rows(x, statistic, population)
  facts <- attr(x, "scan")
  refuse_if(facts$step < facts$window, "%s: make a scan without `step`.",
            "Windows overlap, which bedGraph does not allow")
  write_text(file, c(
    sprintf("track type=bedGraph name=\"%s %s\"", statistic, rows$population[1]),
    sprintf("%s\t%.0f\t%.0f\t%s", rows$chromosome, rows$start - 1, rows$end,
            exact_text(rows$value))
  ))
  invisible(file)
}

# Windows of a population with a value of the statistic: chromosome, start, end, population, value.
statistic_rows <- function(x, statistic, population) {
  check_choice(statistic, names(x)[vapply(x, is.numeric, NA)], "statistic")
  populations <- unique(x$population)
  population <- check_choice(population %||% populations[1], populations, "population")
  rows <- as.data.frame(x)[x$population == population, ]
  rows$value <- rows[[statistic]]
  rows <- rows[is.finite(rows$value), c("chromosome", "start", "end", "population", "value")]
  refuse_if(nrow(rows) == 0, "No window has a value of `%s`.", statistic)
  rows
}
