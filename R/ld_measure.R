#' Two-locus statistics
#'
#' Measures linkage disequilibrium within and between populations, in bins of recombination
#' distance: `ld_statistics("variants.vcf.gz", "populations.txt", map)`. The statistics are more
#' informative on population history than a spectrum, and demographic models can be fitted to them.
#'
#' **Statistics.** At the left and right of two sites, population i has derived allele frequencies
#' \eqn{p_i} and \eqn{q_i}. Its linkage disequilibrium \eqn{D_i} is the covariance of both alleles
#' in a haplotype.
#'
#' | Name | Mean over pairs of sites of |
#' | --- | --- |
#' | `DD.i.j` | \eqn{D_i D_j} |
#' | `Dz.i.j.k` | \eqn{D_i (1 - 2 p_j)(1 - 2 q_k)} |
#' | `pi2.i.j.k.l` | \eqn{p_i (1 - p_j) q_k (1 - q_l)} |
#' | `H.i.j` | \eqn{p_i (1 - p_j) + p_j (1 - p_i)}, a mean over sites |
#'
#' Statistics are averaged over the orders of i and j, of k and l, and of both sites. Each statistic
#' therefore has one name, with populations in the order of `populations`. [ld_ratios()] divides
#' them by pi2 of one population. DD is then \eqn{\sigma_d^2}, and values do not depend on the
#' density of variable sites.
#'
#' **Sites** are SNPs with one REF and one ALT that vary in the samples. The ancestral allele does
#' not matter: exchanging both alleles of a site changes no statistic. FILTER is ignored. Each
#' record has one reason, the first that applies:
#'
#' | Reason | Meaning |
#' | --- | --- |
#' | `MULTIALLELIC` | there are several ALTs, not counting `*` and unobserved alleles |
#' | `NOT_SNP` | there is no ALT, it equals REF, or an allele is not one of A, C, G, T |
#' | `NO_GENOTYPES` | the record has no GT |
#' | `TOO_FEW` | a population has fewer than four genotypes or haplotypes |
#' | `FIXED` | all populations are fixed for the same allele |
#' | `OFF_MAP` | the site is outside the map |
#' | `USED` | the record is a site |
#'
#' **Estimates are unbiased.** Products of frequencies and of D are means over different genotypes,
#' or with `phased = TRUE` over different haplotypes. Unphased genotypes require random mating: an
#' inbreeding coefficient F increases D by a factor of 1 + F. A pair uses the genotypes that are
#' called at both sites. Each population must have four of them, or the pair is left out. Haplotypes
#' are more precise if their phase is known, not inferred from few samples.
#'
#' **Distances** are differences of map positions, in Morgans. Up to 0.01, they differ by less than
#' 1 % from the recombination fraction. Sites outside the map and pairs at the same position are
#' left out.
#'
#' **Blocks** give standard errors: [vcov()] leaves out each block in turn. A pair belongs to the
#' block of its left site. Choose blocks that are much longer than the largest distance. `c()`
#' combines chromosomes.
#'
#' A million pairs of a hundred genotypes take less than a second. The number of threads does not
#' change the result.
#'
#' @param x Path of a sorted VCF or BCF, plain, gzip or bgzip. Or genotypes from [open_genotypes()],
#'   in order of chromosome and position, whose haploid calls count as homozygous. Dosages are not
#'   used, which a message tells: their hard calls are.
#' @param populations The population of each sample, as in [sfs_from_vcf()]. `NULL` (the default):
#'   all samples are one population, `"all"`.
#' @param map A recombination map from [read_recombination_map()], or a data frame with its columns.
#'   Or one number for all chromosomes: the recombination rate per base and generation, such as
#'   `1e-8`.
#' @param bins Increasing limits of bins in Morgans. A bin contains its lower limit. Default: 12
#'   bins from 0 to 0.005.
#' @param phased Whether to use the haplotypes of a VCF. `FALSE` (the default): genotypes of two
#'   alleles each, whose phase is ignored.
#' @param blocks Length of the blocks in bases, such as 5,000,000. They start at the first base of
#'   a chromosome. `NULL` (the default): all of `x` is one block.
#' @param length Number of bases at which variants could have been found, for heterozygosity per
#'   base. `NULL` (the default): unknown, and heterozygosity is per variable site.
#' @param subset Whether to leave out samples without a population. With `FALSE` (the default) such
#'   samples are an error.
#' @inheritParams sfs_from_sites
#' @return A list of class `ld_statistics`, with [methods][ld_methods]:
#'
#' | Field | Content |
#' | :--- | :--- |
#' | `values` | Matrix of means, with a row for each bin and a column for each statistic. |
#' | `heterozygosity` | Named values `H.i.j`, per base of `length`, else per site. |
#' | `bins` | The limits in Morgans. |
#' | `populations` | Their names. |
#' | `pairs` | Number of pairs of sites in each bin. |
#' | `blocks` | Each block's `sums` (block x bin x statistic), `pairs` and `heterozygosity`. |
#' | `length`, `sites` | Number of accessible bases, or `NA`; number of sites used. |
#' | `records` | Numbers of records by reason. |
#' | `reference` | The population of [ld_ratios()], or `NULL`. |
#' | `source` | Path of the genotypes. |
#' @section Errors:
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged, unsorted or breaks its
#'   format. Or a genotype does not have two alleles, or is unphased with `phased = TRUE`.
#' * `ancify_input_error`: samples and populations do not match; a population has fewer than four
#'   genotypes or haplotypes; `map` lacks a chromosome; no site varies; no pair is in a bin; or
#'   genotypes are not sorted.
#' * `ancify_file_error` (field `file`): a file cannot be read.
#' * `ancify_package_error`: ancify was built without htslib.
#' * `ancify_chromosome_warning`: sites of X, Y or MT are paired as autosomal. Males coded as
#'   homozygous there increase D.
#' @references
#' Ragsdale and Gravel (2019) Models of archaic admixture and recent history from two-locus
#' statistics. PLoS Genetics 15:e1008204.
#'
#' Ragsdale and Gravel (2020) Unbiased estimation of linkage disequilibrium from unphased data.
#' Molecular Biology and Evolution 37:923-932.
#' @seealso [ld_ratios()], [ld_methods], [read_recombination_map()], [sfs_from_vcf()]
#' @export
#' @examples
#' # Genotypes of 20 samples at 40 sites, equal in pairs of neighbours
#' set.seed(1)
#' calls <- matrix(rbinom(20 * 40, 2, 0.3), 20, dimnames = list(paste0("s", 1:20), NULL))
#' calls[, seq(2, 40, 2)] <- calls[, seq(1, 39, 2)]
#' variants <- data.frame(chromosome = "1", position = 1000 * 1:40)
#' g <- open_genotypes(calls, variants)
#' populations <- setNames(rep(c("north", "south"), each = 10), paste0("s", 1:20))
#' x <- ld_statistics(g, populations, map = 1e-8, bins = c(0, 1.5e-5, 1e-4), threads = 1)
#' x
#' ld_ratios(x)$values[, "DD.north.north"]
ld_statistics <- function(x, populations = NULL, map, bins = ld_bins, phased = FALSE,
                          blocks = NULL, length = NULL, subset = FALSE, threads = NULL,
                          progress = interactive()) {
  check_given()
  map <- check_map(map)
  check_args(bins = check_bins, phased = flag(), blocks = optional(whole(2^53)),
             length = optional(positive(1)), subset = flag())
  work <- new_work(threads, progress = progress)
  from <- genotypes_for_ld(x, phased)
  table <- if (is.null(populations)) {
    data.frame(sample = from$samples, population = "all")
  } else {
    population_table(populations)
  }
  check_samples(from$samples, table, from$path, subset)
  names <- unique(table$population)
  check_enough_units(table, phased)

  found <- with_watch("Reading", function(watch) {
    samples <- core_list(
      "LdSamples",
      population = sample_populations(from$samples, table), n_populations = length(names)
    )
    from$read(samples, work, watch)
  }, work$progress)
  morgans <- morgans_of(
    map, found$chromosomes, found$chromosome, found$position, quoted(from$path)
  )
  used <- !is.na(morgans)
  warn_of_sex_chromosomes(
    list(variants = list(chromosome = found$chromosomes[found$chromosome]),
         chromosomes = c(list(found$chromosomes), from$chromosomes)),
    "are paired", used
  )
  records <- c(found$left_out, OFF_MAP = sum(!used), USED = sum(used))
  check_any_pair(sum(used) > 1, records, "no two sites that vary", from$path)
  numbers <- block_numbers(found, used, blocks)
  pairing <- core_list(
    "LdPairing",
    morgans = morgans, block = numbers$number, n_blocks = numbers$n, bins = bins,
    work = work
  )
  sums <- with_watch("Pairing", function(watch) {
    ld_sums_impl(found$sites, pairing, watch)
  }, work$progress)
  check_any_pair(sum(sums$pairs) > 0, records, "no pair of sites in a bin", from$path)
  ld_from_blocks(
    list(
      sums = aperm(sums$sums), pairs = t(sums$pairs), heterozygosity = t(sums$heterozygosity),
      sites = tabulate(numbers$number[used], numbers$n), bases = numbers$bases
    ),
    bins, names, length %||% NA_real_, sum(used),
    data.frame(reason = names(records), records = unname(records)), from$path
  )
}

ld_bins <- c(0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) * 1e-6

check_bins <- function(bins, name) {
  good <- is.numeric(bins) && length(bins) > 1 && all(is.finite(bins)) && bins[1] >= 0 &&
    all(diff(bins) > 0)
  must_be(good, bins, name, "two or more increasing limits in Morgans, from 0 on")
}

# ---- Genotypes --------------------------------------------------------------------------------

# list(path =, samples =, chromosomes = all of the opened file, read = a function of the samples'
# populations, work and a watch).
genotypes_for_ld <- function(x, phased) {
  if (!inherits(x, "ancify_genotypes")) {
    return(records_for_ld(check_path(x, "x"), phased))
  }
  refuse_if(phased,
            "`phased = TRUE` needs a VCF or BCF, by its path: opened genotypes have no phase.")
  if (gives_dosages(x)) {
    inform_ancify("Two-locus statistics are of hard calls: the dosages of `x` are not used.")
  }
  # ALT alleles of one record are no two sites.
  record <- do.call(paste, x$variants[c("chromosome", "position", "id", "other")])
  split <- record %in% record[duplicated(record)]
  refuse_if(all(split), "`x` has no record of two alleles.")
  x <- x[, !split]
  places <- variant_places(x, "x")
  list(
    path = enumerate(x$path), samples = x$samples$id, chromosomes = chromosomes_of_file(x),
    read = function(samples, work, watch) {
      found <- ld_genotypes_impl(
        core_genotypes(x), samples, places$number, x$variants$position, watch
      )
      found$chromosomes <- places$chromosomes
      found$left_out[["MULTIALLELIC"]] <- length(unique(record[split]))
      found
    }
  )
}

records_for_ld <- function(path, phased) {
  check_htslib()
  list(
    path = path, samples = variant_samples_impl(path),
    read = function(samples, work, watch) {
      ld_records_impl(path, samples, phased, work, watch)
    }
  )
}

# The variants' chromosomes as numbers. Variants must be sorted by chromosome and position.
variant_places <- function(g, name = "g") {
  chromosome <- as.character(g$variants$chromosome)
  chromosomes <- unique(chromosome)
  number <- match(chromosome, chromosomes)
  position <- g$variants$position
  step <- diff(number)
  back <- which(step < 0 | (step == 0 & diff(position) < 0))[1]
  refuse_if(
    !is.na(back),
    paste("`%s` is not sorted: variant %s, at %s:%s, comes after %s:%s. Sort it by chromosome and",
          "position."), name, format_count(back + 1), chromosome[back + 1],
    format_count(position[back + 1]), chromosome[back], format_count(position[back])
  )
  unplaced <- which(position < 1)[1]
  refuse_if(!is.na(unplaced), "Variant %2$s of `%1$s` has no position: distances need one.", name,
            format_count(unplaced))
  list(chromosomes = chromosomes, number = number)
}

check_enough_units <- function(table, phased) {
  needed <- if (phased) 2 else 4
  counts <- table(factor(table$population, unique(table$population)))
  few <- names(counts)[counts < needed]
  refuse_if(length(few), "Population %s has %s: estimates without bias need %d%s.", quoted(few[1]),
            count_of(counts[[few[1]]], "sample"), needed,
            if (phased) "" else ", or two with `phased = TRUE`")
}

# Block indices from 1, in order; blocks without a used site are not numbered. A chromosome's blocks
# begin at its first used site and end at its last, so blocks differ in `bases`.
block_numbers <- function(found, used, blocks) {
  if (is.null(blocks)) {
    return(list(number = rep(1L, length(used)), n = 1L, bases = 1))
  }
  before <- (found$position - 1) %/% blocks
  place <- paste(found$chromosome, before)
  known <- unique(place[used])
  of_block <- match(known, place)
  site_of_block <- function(which) {
    at <- tapply(found$position[used], found$chromosome[used], which)
    as.vector(at[as.character(found$chromosome[of_block])])
  }
  start <- before[of_block] * blocks
  bases <- pmin(site_of_block(max), start + blocks) - pmax(site_of_block(min) - 1, start)
  list(number = match(place, known, 1L), n = length(known), bases = bases)
}

check_any_pair <- function(any, records, what, path) {
  if (!any) {
    some <- records[records > 0]
    refuse_input(
      paste0(
        sprintf("%s has %s. Its records: ", quoted(path), what),
        if (!length(some)) "none",
        paste(vapply(some, format_count, ""), names(some), collapse = ", "), "."
      )
    )
  }
}
