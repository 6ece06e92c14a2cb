#' LD scores
#'
#' The LD score of a variant is the sum of its squared correlations r^2 with the variants near it:
#' `ld_scores(g, window = 1e6)`. [components_by_ld()] sorts variants by it.
#'
#' @details
#' r is the correlation of the copies of both variants, over the samples with calls at both. Pairs
#' are those of `plink --r2` of PLINK 1.9, with the same r^2.
#'
#' The variant itself counts with an r^2 of 1, as in LDSC and GCTA. `score` is the sum of r^2, which
#' is too large by about 1 / n for each pair of variants in n samples. `corrected` is the sum of
#' r^2 - (1 - r^2) / (n - 2), without this bias (Bulik-Sullivan and others 2015).
#'
#' A pair of which one variant is constant has no r^2 and is left out. This is also so if only the
#' samples with both calls have one genotype.
#'
#' All sums over samples are integers, and sums over variants have a fixed order. So scores depend
#' on neither threads nor memory.
#'
#' @param g Genotypes, from [open_genotypes()], in order of chromosome and position. Dosages count
#'   by their hard calls.
#' @param window How far the variants of a sum may be from a variant, on either side. Default: a
#'   million bases.
#' @param unit Of `window`: `"bases"` (the default), or `"variants"`, which needs no positions.
#' @param memory Bytes for packed calls, 3 bits a call. At least those of a window must fit.
#'   `NULL` (the default): half of what is available.
#' @inheritParams relatedness
#' @return A data frame with a row for each variant of `g`:
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `chromosome`, `id`, `position`, `counted`, `other` | The variant, as in `g$variants`. |
#' | `score` | Sum of r^2, `NA` for a constant variant. |
#' | `corrected` | Sum of r^2 without its bias, `NA` for a constant variant. |
#' | `n_variants` | Number of variants in the sums, with the variant itself. |
#' @section Errors:
#' * `ancify_input_error`: variants are not in order or lack positions, or an argument is out of its
#'   range.
#' * `ancify_input_error`: the calls of a window need more than `memory`.
#' * `ancify_chromosome_warning`: variants of X, Y or MT are treated as autosomal.
#' * `ancify_file_error`, `ancify_format_error`: genotypes cannot be read, or have changed.
#' @references
#' Bulik-Sullivan and others (2015) LD Score regression distinguishes confounding from polygenicity
#' in genome-wide association studies. Nature Genetics 47:291.
#' @seealso [components_by_ld()], [ld_statistics()] for linkage disequilibrium by distance
#' @export
#' @examples
#' # Neighbours in pairs of equal genotypes
#' set.seed(1)
#' calls <- matrix(rbinom(50 * 8, 2, 0.3), 50, dimnames = list(paste0("s", 1:50), NULL))
#' calls[, c(2, 4, 6)] <- calls[, c(1, 3, 5)]
#' g <- open_genotypes(calls, data.frame(chromosome = "1", position = 1000 * 1:8))
#' ld_scores(g, window = 2000, threads = 1)
#' ld_scores(g, window = 1, unit = "variants", threads = 1)$score
ld_scores <- function(g, window = 1e6, unit = c("bases", "variants"), threads = NULL,
                      memory = NULL, progress = interactive()) {
  check_args(g = check_genotypes, window = number(0), unit = choice(c("bases", "variants")))
  work <- new_work(threads, memory = memory, progress = progress)
  ends <- window_ends(g, window, unit)
  warn_of_sex_chromosomes(g, "are paired")
  if (gives_dosages(g)) inform_ancify("LD scores are of hard calls: dosages are not used.")
  found <- with_watch("Pairing", function(watch) {
    ld_scores_impl(core_genotypes(g), ends, work, watch)
  }, work$progress)
  is_constant <- found$n_variants == 0
  found[c("score", "corrected")] <- lapply(found[c("score", "corrected")], replace, is_constant, NA)
  data.frame(
    g$variants[c("chromosome", "id", "position", "counted", "other")], found, row.names = NULL
  )
}

# The index of the last variant in the window of each.
window_ends <- function(g, window, unit) {
  if (unit == "variants") {
    chromosome <- as.character(g$variants$chromosome)
    number <- match(chromosome, unique(chromosome))
    back <- which(diff(number) < 0)[1]
    refuse_if(!is.na(back), "`g` is not sorted: variant %s, of chromosome %s, comes after %s.",
              format_count(back + 1), chromosome[back + 1], chromosome[back])
    place <- seq_along(number)
  } else {
    number <- variant_places(g)$number
    place <- g$variants$position
  }
  last <- lapply(split(place, number), function(places) findInterval(places + window, places))
  as.numeric(unlist(last, use.names = FALSE) + (match(number, number) - 1))
}
