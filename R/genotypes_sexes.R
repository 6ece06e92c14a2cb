# Warnings about copies of chromosomes by sex, and pseudoautosomal regions.

# ---- Warnings ------------------------------------------------------------------------------------

# `done`: words that follow "variants of chromosome X", such as "are paired". `chosen`: indices of
# the variants.
warn_of_sex_chromosomes <- function(g, done, chosen = seq_along(g$variants$chromosome)) {
  some <- variant_classes(g)
  counts <- table(some$class[chosen][some$class[chosen] %in% names(copies_by_sex)])
  if (length(counts) == 0) {
    return(invisible())
  }
  warn_ancify(
    sprintf(
      paste("%s %s as autosomes, though males and females differ in their copies.",
            "To leave them out, choose the others, as plink2 --autosome does."),
      variants_of_chromosomes(counts), done
    ),
    "chromosome", chromosomes = names(counts)
  )
}

variants_of_chromosomes <- function(counts) {
  enumerate(sprintf("%s of chromosome %s", vapply(counts, count_of, "", "variant"), names(counts)))
}

# Tells how many genotypes of `g`, by sex, are set missing as heterozygous in samples with one copy.
# Reads haploid chromosomes alone.
warn_of_haploid_calls <- function(g, work) {
  class <- variant_classes(g)$class
  sex <- sexes_of(g$samples)
  found <- Filter(function(row) any(row > 0), lapply(
    stats::setNames(nm = intersect(names(copies_by_sex), class)), function(name) {
      haploid <- sex %in% copies_by_sex[[name]]$one
      if (any(haploid)) heterozygous_counts(g[haploid, class == name], work) else 0
    }
  ))
  if (length(found)) {
    warn_ancify(
      sprintf(
        "%s set missing, as these samples have one copy: at %s.%s",
        count_with_verb(sum(unlist(found)), "heterozygous call", "is", "are"),
        variants_of_chromosomes(vapply(found, function(hets) sum(hets > 0), 0L)),
        if ("X" %in% names(found)) {
          " `split_par` separates pseudoautosomal regions, which have two."
        } else {
          ""
        }
      ),
      "chromosome", chromosomes = names(found)
    )
  }
}

# Numbers of heterozygous calls, or dosages of exactly one copy, in samples with one copy, for each
# variant.
heterozygous_counts <- function(g, work) {
  all <- g
  all$by_sex <- FALSE
  all$known <- new.env()
  if (gives_dosages(g)) {
    return(dosage_sums(all, work)$n - dosage_sums(g, work)$n)
  }
  genotype_counts(all, work)[2, ]
}

# ---- Pseudoautosomal regions ---------------------------------------------------------------------

# Pseudoautosomal regions of the human X, from 1: Genome Reference Consortium,
# https://www.ncbi.nlm.nih.gov/grc/human.
human_par <- list(
  GRCh37 = data.frame(start = c(60001, 154931044), end = c(2699520, 155260560)),
  GRCh38 = data.frame(start = c(10001, 155701383), end = c(2781479, 156030895))
)

#' Separate pseudoautosomal regions
#'
#' Names the variants in the pseudoautosomal regions of X as chromosome `XY`:
#' `split_par(g, "GRCh38")`. Both sexes have two copies there, so all analyses treat them as
#' diploid, unlike the rest of X. PLINK 2 does the same by `--split-par`.
#'
#' @param g Genotypes, from [open_genotypes()].
#' @param regions `"GRCh37"` (or `"hg19"`) or `"GRCh38"` (or `"hg38"`), for human genotypes of this
#'   build. Or a data frame with the columns `start` and `end`: positions on X from 1, both
#'   included.
#' @return The genotypes, with `XY` as the chromosome of these variants.
#' @section Errors:
#' * `ancify_input_error`: `regions` is something else, or `g` has no variant of X.
#' @references
#' Chang CC et al. (2015) Second-generation PLINK: rising to the challenge of larger and richer
#' datasets. GigaScience 4: 7.
#' @seealso [open_genotypes()], [scan_variants()]
#' @export
#' @examples
#' calls <- matrix(c(0, 1, 2, 1), 2, dimnames = list(c("a", "b"), c("snp1", "snp2")))
#' g <- open_genotypes(calls, data.frame(chromosome = "X", position = c(2000000, 5000000)))
#' split_par(g, "GRCh38")$variants
split_par <- function(g, regions) {
  check_args(g = check_genotypes)
  regions <- check_par(regions)
  is_x <- variant_classes(g)$class == "X"
  refuse_if(!any(is_x), "`g` has no variant of chromosome X; it has %s.",
            enumerate(unique(g$variants$chromosome)))
  position <- g$variants$position
  is_par <- Reduce(`|`, Map(function(start, end) position >= start & position <= end,
                            regions$start, regions$end), FALSE)
  inform_ancify(sprintf("Pseudoautosomal, named XY: %s of %s of X.",
                        format_count(sum(is_x & is_par)), count_of(sum(is_x), "variant")))
  g$variants$chromosome[is_x & is_par] <- "XY"
  g
}

check_par <- function(regions) {
  builds <- c(GRCh37 = "GRCh37", hg19 = "GRCh37", GRCh38 = "GRCh38", hg38 = "GRCh38")
  build <- if (is_scalar(regions)) match(tolower(regions), tolower(names(builds))) else NA
  if (!is.na(build)) {
    return(human_par[[builds[[build]]]])
  }
  must_be(is.data.frame(regions) && are_ranges(regions$start, regions$end), regions, "regions",
          "\"GRCh37\" (hg19), \"GRCh38\" (hg38), or a data frame of `start` and `end`")
}

are_ranges <- function(start, end) {
  is.numeric(start) && is.numeric(end) && length(start) > 0 && isTRUE(all(start <= end))
}
