# Components by LD score, alone or crossed with frequency.

#' Components by LD score
#'
#' Sorts variants into components by their LD score, and optionally by frequency too:
#' `components_by_ld(g, frequency = c(0, 0.05, 0.5))` gives the components of GREML-LDMS.
#'
#' @details
#' Effects tend to differ in size between regions of high and low linkage disequilibrium, and
#' between rare and common variants. This biases a heritability estimate from one component, but
#' hardly one from several (Evans and others 2018).
#'
#' **Individual scores.** By default a variant is sorted by its own score (LDMS-I), as Evans and
#' others recommend.
#'
#' **Scores of segments.** With a `segment` it is sorted by the mean score of its segment, as by
#' `--ld-score-region` of GCTA (Yang and others 2015). Segments tile a chromosome twice, the second
#' time shifted by a half. The score of a variant is the mean over its two segments. GCTA counts its
#' segments from the first variant, and merges small ones at ends; here, segments begin at the first
#' base.
#'
#' **Bins.** If `breaks` is a number of bins, their limits are quantiles over all variants, before
#' crossing with frequencies, as in GCTA's examples. A bin includes its upper limit. Components
#' without a variant are left out, with a message.
#'
#' **Frequencies** are as in [components_by_frequency()]: minor allele frequencies or, if
#' `ancestral` is given, derived ones. A variant with an uncertain ancestral allele is then in two
#' components, as described there.
#'
#' @inheritParams components
#' @param breaks Number of bins of scores, 4 by default. Or increasing numbers, their ends.
#' @param scores The result of [ld_scores()] for `g`, or for genotypes that include its variants.
#'   By default it is computed, with a window of a million bases.
#' @param segment Length of segments in bases, such as 200,000. `NULL` (the default): individual
#'   scores.
#' @param frequency Increasing numbers, the ends of the bins of frequencies. `NULL` (the default):
#'   variants are sorted by their scores alone.
#' @param corrected Whether to use the bias-corrected scores; `FALSE` by default, as in GCTA.
#' @return A list of class `ancify_components`, see [components]. Names of components are `LD` and
#'   `MAF` or `DAF` with the limits of bins.
#' @section Errors:
#' * `ancify_input_error`: `scores` lack a variant of `g`, too many scores are equal for so many
#'   bins, or breaks do not increase.
#' * `ancify_input_error`: `ancestral` is given without `frequency`, or has no variant of `g`.
#' * Errors of [ld_scores()] and of [components].
#' @references
#' Yang and others (2015) Genetic variance estimation with imputed variants finds negligible missing
#' heritability for human height and body mass index. Nature Genetics 47:1114.
#'
#' Evans and others (2018) Comparison of methods that use whole genome data to estimate the
#' heritability and genetic architecture of complex traits. Nature Genetics 50:737.
#' @seealso [ld_scores()], [components], [fit_reml()]
#' @export
#' @examples
#' set.seed(1)
#' calls <- matrix(rbinom(50 * 40, 2, 0.3), 50, dimnames = list(paste0("s", 1:50), NULL))
#' calls[, 2:10] <- calls[, 1]
#' g <- open_genotypes(calls, data.frame(chromosome = "1", position = 1000 * 1:40))
#' scores <- ld_scores(g, window = 10000, threads = 1)
#' components_by_ld(g, breaks = 2, scores = scores)
#' components_by_ld(g, breaks = 2, scores = scores, frequency = c(0, 0.3, 0.5))
components_by_ld <- function(g, breaks = 4, scores = ld_scores(g), segment = NULL, frequency = NULL,
                             ancestral = NULL, corrected = FALSE) {
  check_args(g = check_genotypes, segment = optional(positive(1)),
             frequency = optional(check_breaks), corrected = flag())
  refuse_if(is.null(frequency) && !is.null(ancestral),
            "`ancestral` is for derived allele frequencies: give the bins of `frequency` too.")
  score <- scores_of_variants(scores, g, if (corrected) "corrected" else "score")
  if (!is.null(segment)) score <- segment_scores(score, g, segment)
  ld <- bins_of(score, score_breaks(score, breaks))
  levels(ld) <- paste("LD", levels(ld))
  if (is.null(frequency)) {
    return(components_of_bins(droplevels_told(ld), g))
  }
  of <- allele_frequencies(g)
  if (is.null(ancestral)) {
    minor <- bins_of(pmin(of$counted, of$other), frequency)
    return(components_of_bins(droplevels_told(crossed_bins(ld, minor, "MAF")), g))
  }
  derived <- 1 - counted_is_ancestral(ancestral, g)
  first <- crossed_bins(ld, bins_of(of$counted, frequency), "DAF")
  second <- crossed_bins(ld, bins_of(of$other, frequency), "DAF")
  used <- droplevels_told(unlist(list(first[which(derived > 0)], second[which(derived < 1)])))
  components_of_pairs(factor(first, levels(used)), factor(second, levels(used)), derived, g)
}

# The score of each variant of g.
scores_of_variants <- function(scores, g, column) {
  must_be(is.data.frame(scores) && all(c(column, names(g$variants)[1:5]) %in% names(scores)),
          scores, "scores", "a result of ld_scores()")
  row <- match(places_of_variants(g$variants), places_of_variants(scores))
  refuse_if(anyNA(row), "`scores` lacks %s of `g`, such as %s: compute it for `g`.",
            count_of(sum(is.na(row)), "variant"), quoted(g$variants$id[which(is.na(row))[1]]))
  scores[[column]][row]
}

# The mean over the two segments of a variant. A segment's score is the mean over its variants.
segment_scores <- function(score, g, segment) {
  chromosome <- variant_places(g)$number
  mean_in <- function(shift) {
    tile <- paste(chromosome, floor((g$variants$position - 1 + shift) / segment))
    stats::ave(score, tile, FUN = function(values) mean(values, na.rm = TRUE))
  }
  ifelse(is.na(score), NA, (mean_in(0) + mean_in(segment / 2)) / 2)
}

# Quantiles as limits, if the number of bins is given.
score_breaks <- function(score, breaks) {
  if (length(breaks) > 1) {
    return(check_breaks(breaks, "breaks"))
  }
  must_be(is_number(breaks) && breaks >= 1 && breaks == round(breaks), breaks, "breaks",
          "a number of bins, or their ends")
  refuse_if(all(is.na(score)), "No variant of `g` has an LD score: all are constant.")
  limits <- stats::quantile(score, seq(0, 1, length.out = breaks + 1), na.rm = TRUE, names = FALSE)
  refuse_if(anyDuplicated(limits), paste(
    "Too many variants have the LD score %s for %s: choose fewer, or give their ends."
  ), format(limits[anyDuplicated(limits)], digits = 6), count_of(breaks, "bin"))
  limits
}

# `kind`: the kind of the frequencies, MAF or DAF.
crossed_bins <- function(ld, frequency, kind) {
  levels(frequency) <- paste(kind, levels(frequency))
  crossed <- interaction(ld, frequency, sep = " ", lex.order = TRUE)
  factor(crossed, levels(crossed))
}

droplevels_told <- function(bins) {
  used <- droplevels(bins)
  refuse_if(nlevels(used) == 0, "No variant of `g` is in a bin: give bins that contain some.")
  n <- nlevels(bins) - nlevels(used)
  if (n > 0) {
    inform_ancify(sprintf("Without a variant, and left out: %s of %s components.",
                          format_count(n), format_count(nlevels(bins))))
  }
  used
}
