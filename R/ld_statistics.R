# Two-locus statistics in bins of recombination distance: their names, the class of measured and
# expected statistics, and ratios.
#
# Population i has the derived allele frequencies p_i at the left and q_i at the right locus, and
# the linkage disequilibrium D_i. As in Ragsdale and Gravel (2019), PLoS Genetics 15:e1008204:
#
#   DD.i.j      = E[D_i D_j]
#   Dz.i.j.k    = E[D_i (1 - 2 p_j) (1 - 2 q_k)]
#   pi2.i.j.k.l = E[p_i (1 - p_j) q_k (1 - q_l)]
#   H.i.j       = E[p_i (1 - p_j) + p_j (1 - p_i)], of one locus
#
# Statistics are averaged over the orders of i and j, of k and l, and of both loci, so each has one
# name.

# A row for each statistic: its name, its kind, and the indices i, j, k and l of populations, NA if
# it has fewer. Populations are in order within pairs, and so are pairs.
ld_table <- function(populations) {
  n <- length(populations)
  pairs <- ordered_pairs(n)
  of_pairs <- ordered_pairs(nrow(pairs))
  all_pairs <- pairs[rep(seq_len(nrow(pairs)), n), , drop = FALSE]
  dz <- cbind(rep(seq_len(n), each = nrow(pairs)), all_pairs)
  pi2 <- cbind(pairs[of_pairs[, 1], , drop = FALSE], pairs[of_pairs[, 2], , drop = FALSE])
  rows <- rbind(cbind(pairs, NA, NA), cbind(dz, NA), pi2)
  kind <- rep(c("DD", "Dz", "pi2"), c(nrow(pairs), nrow(dz), nrow(pi2)))
  data.frame(
    name = joined_names(kind, rows, populations), kind = kind, i = rows[, 1], j = rows[, 2],
    k = rows[, 3], l = rows[, 4]
  )
}

# A row for each pair from 1 to n, including equal elements: 1 1, 1 2, ..., 2 2, ...
ordered_pairs <- function(n) {
  first <- rep(seq_len(n), rev(seq_len(n)))
  cbind(first, sequence(rev(seq_len(n)), seq_len(n)), deparse.level = 0)
}

# "Dz.YRI.YRI.CEU", from a kind and a row of population indices.
joined_names <- function(kind, rows, populations) {
  words <- cbind(kind, matrix(populations[rows], nrow(rows)))
  apply(words, 1, function(row) paste(row[!is.na(row)], collapse = "."))
}

# Names of the columns of `values`.
ld_statistics_names <- function(populations) ld_table(populations)$name

heterozygosity_names <- function(populations) {
  joined_names("H", ordered_pairs(length(populations)), populations)
}

# ---- The class --------------------------------------------------------------------------------

# `values`: a row for each bin, a column for each of ld_statistics_names(). `bins`: increasing
# limits in Morgans, one more than rows. `heterozygosity`: a value for each of
# heterozygosity_names(), per base of `length` (accessible bases), or per site of `sites` if
# `length` is NA. `pairs`: pairs of sites in each bin. `blocks`: contributions of parts of the
# genome, list(sums = block x bin x statistic, pairs = block x bin, heterozygosity = block x pair of
# populations). `records`: a data frame of `reason` and `records`. `reference`: the population to
# which values are ratios. `source`: the origin of the values. For expected values, `pairs`,
# `blocks` and `records` are NULL.
new_ld_statistics <- function(values, bins, populations, heterozygosity, pairs = NULL,
                              blocks = NULL, length = NA_real_, sites = NA_real_, records = NULL,
                              reference = NULL, source = "") {
  dimnames(values) <- list(bin_names(bins), ld_statistics_names(populations))
  names(heterozygosity) <- heterozygosity_names(populations)
  structure(
    class = "ld_statistics",
    list(
      values = values, heterozygosity = heterozygosity, bins = bins, populations = populations,
      pairs = pairs, blocks = blocks, length = length, sites = sites, records = records,
      reference = reference, source = source
    )
  )
}

# Measured statistics: sums over blocks, divided by pairs.
ld_from_blocks <- function(blocks, bins, populations, length, sites, records, source) {
  dimnames(blocks$sums) <- list(NULL, bin_names(bins), ld_statistics_names(populations))
  colnames(blocks$pairs) <- bin_names(bins)
  colnames(blocks$heterozygosity) <- heterozygosity_names(populations)
  pairs <- colSums(blocks$pairs)
  new_ld_statistics(
    means_of(colSums(blocks$sums), pairs), bins, populations,
    colSums(blocks$heterozygosity) / if (is.na(length)) sites else length, pairs, blocks, length,
    sites, records, NULL, source
  )
}

# Sums divided by pairs, NA in a bin without pairs.
means_of <- function(sums, pairs) {
  pairs[pairs == 0] <- NA
  sums / pairs
}

bin_names <- function(bins) {
  limits <- format(bins, digits = 4, trim = TRUE, scientific = NA)
  paste0("[", utils::head(limits, -1), ",", limits[-1], ")")
}

check_ld <- of_class("ld_statistics", "two-locus statistics from ld_statistics()")

check_known_population <- function(population, populations, name) {
  unknown <- setdiff(population, populations)
  refuse_if(!is.character(population) || !length(population) || length(unknown),
            "`%s` must be of the populations %s, not %s.", name, enumerate(quoted(populations)),
            if (length(unknown)) enumerate(quoted(unknown)) else show_value(population))
  population
}

# ---- Ratios -----------------------------------------------------------------------------------

# The name of pi2 in one population, the divisor of ratios.
pi2_name <- function(population) paste(c("pi2", rep(population, 4)), collapse = ".")

#' Ratios of two-locus statistics
#'
#' Divides two-locus statistics by pi2 of one population, and heterozygosities by its
#' heterozygosity: `ld_ratios(x, "YRI")`. The ratio of DD is then \eqn{\sigma_d^2}. Ratios do not
#' depend on the density of variable sites, so measured and expected ratios can be compared.
#'
#' @param x An object of [ld_statistics()].
#' @param population The population whose pi2 is 1. Default: the first of `x`.
#' @return `x` with ratios as `values` and `heterozygosity`, and the population as `reference`.
#' @section Errors:
#' * `ancify_input_error`: `x` has no such population, or has ratios already.
#' @references
#' Ragsdale and Gravel (2019) Models of archaic admixture and recent history from two-locus
#' statistics. PLoS Genetics 15:e1008204.
#' @seealso [ld_statistics()]
#' @export
#' @examples
#' calls <- matrix(rbinom(20 * 40, 2, 0.3), 20, dimnames = list(paste0("s", 1:20), NULL))
#' g <- open_genotypes(calls, data.frame(chromosome = "1", position = 1000 * 1:40))
#' x <- ld_statistics(g, map = 1e-8, bins = c(0, 1e-4, 2e-4), threads = 1)
#' ld_ratios(x)$values
ld_ratios <- function(x, population = x$populations[1]) {
  check_args(x = check_ld)
  if (length(population) != 1) population <- list(population)
  check_known_population(population, x$populations, "population")
  refuse_if(!is.null(x$reference), "`x` has ratios to %s already: give the statistics themselves.",
            quoted(x$reference))
  ratios <- as_ratios(x$values, x$heterozygosity, population)
  x$values <- ratios$values
  x$heterozygosity <- ratios$heterozygosity
  x$reference <- population
  x
}

# `population`: NULL to leave values as they are.
as_ratios <- function(values, heterozygosity, population) {
  if (!is.null(population)) {
    values <- values / values[, pi2_name(population)]
    own <- paste("H", population, population, sep = ".")
    heterozygosity <- heterozygosity / heterozygosity[[own]]
  }
  list(values = values, heterozygosity = heterozygosity)
}
