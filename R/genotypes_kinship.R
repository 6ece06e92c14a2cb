#' Related samples
#'
#' `relatedness(g)` gives the pairs of samples that are related, with their kinship.
#' `unrelated_samples(pairs, ids)` chooses samples of which no two are such a pair.
#'
#' @details
#' Kinship is the robust estimate of KING, as `plink2 --make-king-table` gives it. It needs no
#' frequencies of alleles, so samples may come from several populations. Kinship of unrelated
#' samples of different populations is below 0.
#'
#' | `degree` | Kinship | Such as |
#' | --- | --- | --- |
#' | `"twin"` | from 0.354 | the same person twice, identical twins |
#' | `"first"` | from 0.177 | parent and child, full siblings |
#' | `"second"` | from 0.0884 | half siblings, grandparent and grandchild |
#' | `"third"` | from 0.0442 | first cousins |
#' | `"distant"` | below | |
#'
#' Parents and children share an allele at each variant, so `opposite` is near 0. Full siblings have
#' `opposite` genotypes a quarter as often as unrelated samples.
#'
#' Use common variants on autosomes, at least some thousands. They need not be in linkage
#' equilibrium.
#'
#' **Unrelated samples.** `unrelated_samples()` repeatedly removes the sample with the most related
#' samples, the last of several. Which samples remain does not depend on the order of pairs.
#'
#' @param g Genotypes, from [open_genotypes()]. Dosages count by their hard calls.
#' @param bound Smallest kinship of a pair in the result, from -Inf to 0.5. Default: that of third
#'   degree.
#' @param chromosomes The chromosomes whose variants count, as in [fit_reml()]: by default
#'   `"autosomes"`. A message counts variants that are left out.
#' @param threads Number of threads. `NULL` (the default): `getOption("ancify.threads")`, or else
#'   all cores.
#' @param memory Bytes for counts of pairs, 20 a pair. If they do not suffice, the genotypes are
#'   read several times. `NULL` (the default): half of what is available.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @param pairs A result of `relatedness()`, or a data frame with the columns `first` and `second`.
#' @param ids All samples, such as `g$samples$id`.
#' @return `relatedness()`: a data frame with a row for each pair, in the order of samples.
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `first`, `second` | Ids of the samples. |
#' | `n` | Variants at which both samples have a call. |
#' | `both_heterozygous` | Variants at which both are heterozygous. |
#' | `opposite` | Variants at which they are homozygous for different alleles. |
#' | `kinship` | The estimate. |
#' | `degree` | A factor, see above. |
#'
#' A pair of which one sample has no heterozygous genotype has no estimate, and no row.
#' `unrelated_samples()`: the remaining `ids`, in their order.
#' @section Errors:
#' * `ancify_input_error`: an argument is out of its range, no variant is on `chromosomes`, or a
#'   pair has an id that is not in `ids`.
#' * `ancify_file_error`, `ancify_format_error`: genotypes cannot be read, or have changed.
#' @references
#' Manichaikul and others (2010) Robust relationship inference in genome-wide association studies.
#' Bioinformatics 26:2867.
#' @seealso [pca()], [open_genotypes()]
#' @export
#' @examples
#' set.seed(1)
#' alleles <- matrix(rbinom(2 * 4 * 2000, 1, 0.4), 8)
#' calls <- alleles[1:4, ] + alleles[5:8, ]
#' calls <- rbind(calls, alleles[1, ] + alleles[2, ]) # a child of the first two
#' rownames(calls) <- c("mother", "father", "aunt", "uncle", "child")
#' g <- open_genotypes(calls)
#' pairs <- relatedness(g, threads = 1)
#' pairs
#' g[unrelated_samples(pairs, g$samples$id), ]
relatedness <- function(g, bound = 2^-4.5, chromosomes = "autosomes", threads = NULL, memory = NULL,
                        progress = interactive()) {
  check_args(g = check_genotypes)
  must_be(is.numeric(bound) && length(bound) == 1 && isTRUE(bound <= 0.5), bound, "bound",
          "a number up to 0.5")
  work <- new_work(threads, memory = memory, progress = progress)
  g <- genotypes_on(g, chromosomes, "relatedness")
  if (gives_dosages(g)) inform_ancify("Relatedness is of hard calls: dosages are not used.")
  found <- with_watch("Comparing samples", function(watch) {
    related_pairs_impl(core_genotypes(g), bound, work, watch)
  }, work$progress)
  ids <- g$samples$id
  data.frame(
    first = ids[found$first], second = ids[found$second],
    found[c("n", "both_heterozygous", "opposite", "kinship")],
    degree = kinship_degree(found$kinship)
  )
}

# Limits are halfway between degrees on the scale of log2.
kinship_degree <- function(kinship) {
  cut(kinship, c(-Inf, 2^-(4.5:1.5), Inf), c("distant", "third", "second", "first", "twin"),
      right = FALSE)
}

#' @rdname relatedness
#' @export
unrelated_samples <- function(pairs, ids) {
  check_given()
  must_be(is.data.frame(pairs) && all(c("first", "second") %in% names(pairs)), pairs, "pairs",
          "a result of relatedness()")
  must_be(length(ids) > 0 && !anyDuplicated(ids), ids, "ids", "different ids of samples")
  first <- match(pairs$first, ids)
  second <- match(pairs$second, ids)
  unknown <- unique(c(pairs$first[is.na(first)], pairs$second[is.na(second)]))
  refuse_if(length(unknown), "`pairs` has samples that are not in `ids`: %s.", enumerate(unknown))
  removed <- logical(length(ids))
  repeat {
    degree <- tabulate(c(first, second), length(ids))
    if (!any(degree > 0)) {
      return(ids[!removed])
    }
    worst <- max(which(degree == max(degree)))
    removed[worst] <- TRUE
    stays <- first != worst & second != worst
    first <- first[stays]
    second <- second[stays]
  }
}
