#' Compare scores where the reference is ancestral and where it is derived
#'
#' A score of derived residues should not depend on the allele that the reference genome happens to
#' carry. `score_bias(scores)` gives the mean score at sites where REF is ancestral and where it is
#' derived, by the frequency of the derived allele.
#'
#' @details
#' At a given frequency, chance decides which of the sample's alleles is REF. Both means should
#' therefore agree if the reference comes from the sampled population. They differ if scores favour
#' alleles of the reference, as wild-type scores on `background = "focal"` may.
#'
#' A site counts once, by its lowest score. Sites without called genotypes have no frequency and are
#' excluded. REF is taken from the file: after polarisation by [annotate_vcf()] it is always
#' ancestral.
#'
#' @param scores A result of [score_missense()], or some of its rows.
#' @param breaks Limits of bins of derived allele frequency, from 0 to 1. A bin contains its lower
#'   limit, the last bin also its upper limit.
#' @param object,x A result of `score_bias()`.
#' @param ... Not used.
#' @return `score_bias()`: a data frame of class `score_bias` with two rows per bin:
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `from`, `to` | The bin. |
#' | `reference` | `"ancestral"` or `"derived"`: the state of REF. |
#' | `sites` | Number of sites. |
#' | `mean`, `se` | Mean score and its standard error; `NA` without sites, or with only one. |
#'
#' The attribute `left_out` is the number of scored sites without a frequency.
#'
#' `autoplot()`: a `ggplot`. `plot()`: this `ggplot`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `scores` is not a result of [score_missense()], or no scored site has
#'   called genotypes; `breaks` are not increasing frequencies.
#' * `ancify_package_error`: ggplot2 is not installed.
#' @seealso [score_missense()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib) && requireNamespace("Biostrings", quietly = TRUE)
#' focal <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "CATGGCATGGTAAC"), focal)
#' genes <- tempfile(fileext = ".gtf")
#' writeLines(paste("1", ".", "CDS", 2, 10, ".", "+", 0,
#'                  "gene_id \"g1\"; transcript_id \"t1\";", sep = "\t"), genes)
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2"
#' records <- c("1\t6\t.\tC\tT\t.\t.\tAA=C\tGT\t0/1\t0/0",
#'              "1\t8\t.\tT\tC\t.\t.\tAA=C\tGT\t0/0\t1/1")
#' writeLines(c("##fileformat=VCFv4.2", columns, records), vcf)
#' changes <- coding_changes(vcf, "AA", genes, focal, threads = 1)
#' model <- sequence_model(system.file("extdata", "esm2_random", package = "ancify"))
#' bias <- score_bias(score_missense(changes, model, threads = 1), breaks = c(0, 1))
#' bias
score_bias <- function(scores, breaks = c(0, 0.05, 0.2, 0.5, 1)) {
  needed <- c("consequence", "score", "called", "copies", "ref_is_ancestral")
  check_args(scores = scores_with(needed), breaks = check_frequency_breaks)
  sites <- lowest_scores(scores)
  frequency <- sites$copies / sites$called
  refuse_if(all(is.na(frequency)),
            "`scores` has no scored site with called genotypes, so that there is no frequency.")
  bin <- findInterval(frequency, breaks, rightmost.closed = TRUE)
  bins <- seq_len(length(breaks) - 1)
  rows <- lapply(bins, function(i) {
    do.call(rbind, lapply(c("ancestral", "derived"), function(reference) {
      is_here <- bin %in% i & sites$ref_is_ancestral == (reference == "ancestral")
      summary_of(sites$score[is_here], breaks[i + 0:1], reference)
    }))
  })
  structure(do.call(rbind, rows), left_out = sum(is.na(frequency)),
            class = c("score_bias", "data.frame"))
}

check_frequency_breaks <- function(x, name) {
  good <- is.numeric(x) && length(x) >= 2 && !anyNA(x) && !is.unsorted(x, strictly = TRUE)
  must_be(good && all(x >= 0 & x <= 1), x, name, "at least two rising numbers from 0 to 1")
}

summary_of <- function(score, range, reference) {
  n <- length(score)
  data.frame(
    from = range[1], to = range[2], reference = reference, sites = n,
    mean = if (n > 0) mean(score) else NA_real_,
    se = if (n > 1) stats::sd(score) / sqrt(n) else NA_real_
  )
}

#' @export
print.score_bias <- function(x, ...) {
  check_no_more(...)
  write_object("score_bias", c(
    count_of(sum(x$sites), "site"),
    if (isTRUE(attr(x, "left_out") > 0)) sprintf("%s without a frequency", attr(x, "left_out"))
  ))
  print(as.data.frame(x), row.names = FALSE, digits = 3)
  invisible(x)
}

#' @export
as.data.frame.score_bias <- function(x, ...) {
  attr(x, "left_out") <- NULL
  class(x) <- "data.frame"
  x
}

#' @rdname score_bias
#' @usage \method{autoplot}{score_bias}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.score_bias <- function(object, ...) { # nolint: object_name_linter.
  check_no_more(...)
  need_ggplot2()
  drawn <- as.data.frame(object)[object$sites > 0, ]
  bins <- sprintf("%s to %s", drawn$from, drawn$to)
  drawn$bin <- factor(bins, unique(bins))
  drawn$low <- drawn$mean - ifelse(is.na(drawn$se), 0, 2 * drawn$se)
  drawn$high <- drawn$mean + ifelse(is.na(drawn$se), 0, 2 * drawn$se)
  ggplot2::ggplot(
    drawn,
    by_column(x = "bin", y = "mean", ymin = "low", ymax = "high", colour = "reference")
  ) +
    ggplot2::geom_pointrange(position = ggplot2::position_dodge(width = 0.4)) +
    ggplot2::scale_colour_manual(values = c(ancestral = dark_colour, derived = "#D55E00")) +
    ggplot2::labs(x = "frequency of the derived allele", y = "mean score (2 standard errors)",
                  colour = "REF is") +
    picture_theme()
}

#' @rdname score_bias
#' @export
plot.score_bias <- function(x, ...) draw_picture(autoplot.score_bias(x, ...))
