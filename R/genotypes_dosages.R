# Dosages of genotypes: whether they are wanted, whether a file has them, and how well variants are
# imputed.

# `dosages` of open_genotypes(): FALSE, TRUE, or a field of FORMAT of a VCF.
check_dosages <- function(x, name) {
  good <- isTRUE(x) || isFALSE(x) || identical(x, "DS") || identical(x, "GP")
  must_be(good, x, name, "TRUE, FALSE or, for a VCF, \"DS\" or \"GP\"")
}

wants_dosages <- function(how) !isFALSE(how$dosages)

# Refuses dosages that no source has.
check_dosages_of <- function(parts, how) {
  if (!wants_dosages(how)) {
    return(invisible())
  }
  kinds <- vapply(parts, `[[`, "", "kind")
  refuse_if(is.character(how$dosages) && !any(kinds %in% c("records", "vcf_zarr")),
            "`dosages = \"%s\"` is for a VCF, BCF or VCF Zarr: set `dosages = TRUE`.", how$dosages)
  refuse_if(!any(has_dosages(parts)), "%s has hard calls only: leave `dosages` out.",
            quoted(parts[[1]]$path))
}

has_dosages <- function(parts) vapply(parts, function(part) isTRUE(part$dosages), NA)

gives_dosages <- function(g) any(has_dosages(g$parts))

# MACH's r2, as PLINK 2 has it: the variance of dosages over that of calls with the same frequency;
# NA without variation.
imputation_info <- function(sums) {
  p <- sums$sum / (2 * sums$n)
  expected <- 2 * p * (1 - p)
  ifelse(sums$n > 0 & expected > 0, sums$variance / expected, NA_real_)
}
