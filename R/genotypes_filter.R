#' Choose variants by quality
#'
#' `filter_variants(g, maf = 0.01, missing = 0.05, hwe = 1e-6)` gives the variants of `g` that are
#' frequent, have few missing calls and do not contradict Hardy-Weinberg equilibrium. A message
#' tells how many are left out.
#'
#' If `g` has dosages, frequencies and missing samples are those of dosages, as in PLINK 2, and
#' `info` leaves out variants that are imputed badly. The test of Hardy-Weinberg equilibrium counts
#' their hard calls.
#'
#' Frequencies and missing calls are of the chosen samples of `g`. Males have one copy of X and Y,
#' and females do not count on Y. A variant that fails several limits counts for the first of them,
#' in the order of the arguments. The test of Hardy-Weinberg equilibrium is exact. It takes females
#' alone on X, and is not made on Y, MT, Z and W.
#'
#' @param g Genotypes, from [open_genotypes()].
#' @param maf Smallest frequency of the rarer allele, from 0 (the default) to 0.5. Monomorphic
#'   variants have the frequency 0.
#' @param missing Largest share of missing calls, from 0 to 1 (the default).
#' @param hwe Smallest p-value of the test of Hardy-Weinberg equilibrium, from 0 (the default: no
#'   test) to 1.
#' @param info For dosages: smallest quality of imputation, from 0 (the default: no limit) to 1. See
#'   the column `info` of [summary()][summary.ancify_genotypes]. A variant without variation fails
#'   any limit. X, Y, MT, Z and W have no limit.
#' @inheritParams genotype_methods
#' @return The genotypes of the remaining variants, with a field `filtered`: the numbers of variants
#'   that failed `maf`, `missing`, `hwe` and, if it is given, `info`.
#' @section Errors:
#' * `ancify_input_error`: a limit is out of its range, no variant remains, or `info` is given for
#'   hard calls.
#' * `ancify_file_error`, `ancify_format_error`: genotypes cannot be read, or have changed.
#' @references
#' Wigginton JE, Cutler DJ, Abecasis GR (2005) A note on exact tests of Hardy-Weinberg equilibrium.
#' American Journal of Human Genetics 76: 887-893.
#' @seealso [summary()][summary.ancify_genotypes]
#' @export
#' @examples
#' calls <- matrix(c(0, 1, 2, 1, 0, 0, 0, 0, 2, 2, NA, NA), 4, dimnames = list(letters[1:4], NULL))
#' filter_variants(open_genotypes(calls), maf = 0.1, missing = 0.2)
filter_variants <- function(g, maf = 0, missing = 1, hwe = 0, info = 0, threads = NULL,
                            progress = interactive()) {
  check_args(g = check_genotypes, maf = number(0, 0.5), missing = number(0, 1), hwe = number(0, 1),
             info = number(0, 1))
  refuse_if(info > 0 && !gives_dosages(g),
            "`info` is for dosages, but the genotypes are hard calls: set `dosages = TRUE`.")
  work <- new_work(threads, progress = progress)
  fails <- failures_of_variants(g, list(maf = maf, missing = missing, hwe = hwe, info = info), work)
  n <- length(fails)
  first <- max.col(cbind(do.call(cbind, fails), TRUE), "first")
  filtered <- stats::setNames(tabulate(first, n), names(fails))
  refuse_if(sum(filtered) == ncol(g), "No variant remains: %s are left out, %s.",
            count_of(ncol(g), "variant"), filtered_text(filtered))
  g <- g[, first == n + 1]
  g$filtered <- filtered
  if (any(filtered > 0)) {
    inform_ancify(sprintf("Left out: %s of %s variants, %s.", format_count(sum(filtered)),
                          format_count(length(first)), filtered_text(filtered)))
  }
  g
}

# For each limit, whether variants fail it
failures_of_variants <- function(g, limits, work) {
  dosages <- gives_dosages(g)
  counts <- if (!dosages || limits$hwe > 0) genotype_counts(g, work)
  found <- if (dosages) dosages_by_sex(g, work) else frequencies_by_sex(g, counts, work)
  fails <- list(
    maf = pmin(found$frequency, 1 - found$frequency) < limits$maf,
    missing = found$missing > limits$missing,
    hwe = if (limits$hwe > 0) {
      hardy_weinberg_p(g, counts, work) < limits$hwe
    } else {
      rep(FALSE, ncol(g))
    }
  )
  if (limits$info > 0) {
    info <- imputation_info(dosage_sums(g, work))
    is_diploid <- !variant_classes(g)$class %in% names(copies_by_sex)
    fails$info <- is_diploid & (is.na(info) | info < limits$info)
  }
  fails
}

# For each variant the frequency of the counted allele, 0 without a call, and the share of missing
# calls. Haploid samples have one copy, and samples without a copy of the chromosome do not count.
frequencies_by_sex <- function(g, counts, work) {
  haploid <- 0L * counts
  n <- rep(nrow(g), ncol(g))
  for (class in copies_of_classes(g)) {
    at <- class$variants
    counts_in <- function(samples) {
      if (any(samples)) genotype_counts(g[samples, at], work) else 0L
    }
    counts[, at] <- counts_in(class$has_copy)
    haploid[, at] <- counts_in(class$haploid)
    n[at] <- sum(class$has_copy)
  }
  diploid <- counts - haploid
  copies <- diploid[2, ] + 2 * diploid[3, ] + haploid[3, ]
  called <- 2 * colSums(diploid[1:3, , drop = FALSE]) + haploid[1, ] + haploid[3, ]
  list(frequency = ifelse(called > 0, copies / called, 0),
       missing = ifelse(n > 0, counts[4, ] / n, 1))
}

# The same of dosages
dosages_by_sex <- function(g, work) {
  sums <- dosage_sums(g, work)
  haploid <- 0 * sums
  n <- rep(nrow(g), ncol(g))
  for (class in copies_of_classes(g)) {
    at <- class$variants
    sums_in <- function(samples) if (any(samples)) dosage_sums(g[samples, at], work) else 0
    sums[at, ] <- sums_in(class$has_copy)
    haploid[at, ] <- sums_in(class$haploid)
    n[at] <- sum(class$has_copy)
  }
  # Dosages of haploid samples count twice.
  copies <- sums$sum - haploid$sum / 2
  dosed <- 2 * sums$n - haploid$n
  list(frequency = ifelse(dosed > 0, copies / dosed, 0),
       missing = ifelse(n > 0, (n - sums$n) / n, 1))
}

# For each class of variants whose copies depend on the sex: list(variants =, has_copy =, haploid =)
copies_of_classes <- function(g) {
  sex <- sexes_of(g$samples)
  class <- variant_classes(g)$class
  lapply(intersect(names(copies_by_sex), class), function(name) {
    copies <- copies_by_sex[[name]]
    list(variants = class == name, has_copy = !sex %in% copies$none, haploid = sex %in% copies$one)
  })
}

# A p-value for each variant; 1 where there is no test.
hardy_weinberg_p <- function(g, counts, work) {
  class <- variant_classes(g)$class
  p <- rep(1, ncol(g))
  is_diploid <- class %in% c("autosome", "PAR")
  p[is_diploid] <- hardy_weinberg_impl(counts[, is_diploid, drop = FALSE])
  on_x <- which(class == "X")
  females <- which(sexes_of(g$samples) == "female")
  if (length(on_x) && length(females)) {
    p[on_x] <- hardy_weinberg_impl(genotype_counts(g[females, on_x], work))
  }
  p
}

# Such as "12 by `maf` and 3 by `missing`"; empty if none is left out.
filtered_text <- function(filtered) {
  some <- filtered[filtered > 0]
  enumerate(sprintf("%s by `%s`", vapply(some, format_count, ""), names(some)))
}
