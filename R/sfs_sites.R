#' Make a spectrum of sites
#'
#' Makes the joint spectrum of up to five populations from the allele counts of
#' sites. Missing genotypes lower the haplotypes called at a site; each site is
#' projected to the haplotypes wanted, and what is not sure about which allele is
#' ancestral is in the spectrum.
#'
#' A site with d derived copies among c called haplotypes of a population adds to
#' the cell of k copies the chance that k of the haplotypes wanted, drawn from those
#' called without replacement, have the derived allele: hypergeometric, as in
#' [project_sfs()]. Over populations these chances are multiplied. Sites at which
#' fewer are called than wanted, in any population, are left out and counted.
#'
#' With a `posterior` p of the allele taken for the ancestral one, the site adds p
#' times that, and 1 - p times what it would add with the two alleles exchanged. Of
#' posteriors p and q of a site's two alleles, as [polarise_sites()] gives them, that
#' of the first is p / (p + q).
#'
#' **Misidentification.** What posteriors say about how many sites have the wrong
#' allele for the ancestral one: the mean of 1 - p over the sites used that vary in
#' the sample, by mutation type and CpG where these are given.
#'
#' **Bootstrap.** With `windows`, such as stretches of a million bases, that many
#' windows are drawn with replacement, and the spectrum of their sites is made,
#' `replicates` times. Linked sites stay together, so that the spectra vary as those
#' of other genomes would. `set.seed()` makes the draws the same again.
#'
#' Ten million sites take seconds: those with equal counts are projected once. The
#' result is the same at any number of threads.
#'
#' @param derived Copies of the derived allele: a matrix of whole numbers with a row
#'   for each site and a column for each population, or a vector for one population.
#' @param called Haplotypes called, whole numbers of the shape of `derived`; or one for each
#'   population, where it is the same at all sites.
#' @param populations Names; by default the columns' of `derived`.
#' @param project Haplotypes of each population that the spectrum is to have, in
#'   their order or named by them. By default the most that are called at any site:
#'   then only sites without missing genotypes are used.
#' @param posterior For each site the probability, from 0 to 1, that the allele counted as
#'   ancestral is so; `NULL` (the default) where all are sure.
#' @param mutation For each site its type of mutation, such as `"C>T"`; any labels. `NULL`
#'   (the default) for one rate for all.
#' @param cpg For each site whether it is in a CpG, a logical vector; `NULL` (the default) likewise.
#' @param windows For each site the window it is in; any labels. `NULL` (the default) for no
#'   bootstrap.
#' @param replicates Spectra to draw, 100 by default; none without `windows`.
#' @param threads Threads; `NULL` (the default) for `getOption("ancify.threads")` or else all
#'   cores.
#' @param progress Whether to show a progress bar if it takes more than two seconds; by default
#'   in interactive sessions alone.
#' @return An [sfs()], unfolded; where the ancestral allele is not known, count
#'   either and [fold()] it. Attributes: `sites`, a list of how many are `given` and
#'   `used` and, for each population, at how many `too_few` are called; with a
#'   posterior `misidentification`, a data frame of `mutation` and `cpg` (where they
#'   are given), `sites`, `rate` and its `std_error` if sites are independent; with
#'   windows `bootstrap`, a list of spectra.
#' @section Errors:
#' `ancify_input_error` that names the first site that is wrong: counts that are no
#' whole numbers from 0 to those called, posteriors outside 0 to 1. The same for
#' arguments of different numbers of sites, more than five populations, sizes that no
#' site has called, a bootstrap of fewer than two windows, and a spectrum of more
#' cells than R can hold.
#' @references
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint
#' demographic history of multiple populations from multidimensional SNP frequency
#' data. PLoS Genetics 5:e1000695.
#'
#' Marth, Czabarka, Murvai and Sherry (2004) The allele frequency spectrum in
#' genome-wide human variation data. Genetics 166:351.
#' @seealso [sfs_from_vcf()] for genotypes in a VCF, [sfs()], [polarise_sites()]
#' @export
#' @examples
#' derived <- cbind(YRI = c(1, 4, 0, 2, 7), CEU = c(0, 5, 1, 2, 6))
#' called <- cbind(YRI = c(8, 8, 7, 8, 8), CEU = c(6, 6, 6, 5, 6))
#' sfs_from_sites(derived, called, project = c(6, 4), threads = 1)
#'
#' x <- sfs_from_sites(
#'   derived, called, project = c(6, 4), posterior = c(1, 0.9, 0.99, 0.8, 0.6),
#'   mutation = c("A>G", "C>T", "C>T", "A>C", "C>T"), windows = c(1, 1, 2, 2, 3),
#'   replicates = 10, threads = 1
#' )
#' attr(x, "misidentification")
#' sd(vapply(attr(x, "bootstrap"), sum, 0))
sfs_from_sites <- function(derived, called, populations = NULL, project = NULL, posterior = NULL,
                           mutation = NULL, cpg = NULL, windows = NULL, replicates = 100,
                           threads = NULL, progress = interactive()) {
  check_given()
  derived <- as_site_counts(derived, "derived")
  called <- called_haplotypes(called, derived)
  populations <- populations %||% colnames(derived)
  check_populations(populations, ncol(derived))
  check_site_counts(derived, called, populations)
  check_of_sites(nrow(derived), posterior, mutation, cpg, windows)
  most <- if (nrow(called)) apply(called, 2, max) else rep(0L, ncol(called))
  sizes <- sizes_to_project(project, most, populations)
  window <- if (is.null(windows)) integer() else match(windows, unique(windows)) - 1L
  draws <- if (is.null(windows)) no_draws else draw_windows(length(unique(windows)), replicates)
  threads <- resolve_threads(threads)

  result <- with_watch("Making the spectrum", function(watch) {
    sites <- list(
      derived = derived, called = called, posterior = as.double(posterior), window = window
    )
    sfs_from_sites_impl(sites, sizes, draws, threads, watch)
  }, progress)
  spectrum <- site_spectrum(result, sizes, populations)
  if (!is.null(posterior)) {
    used <- rowSums(called >= rep(sizes, each = nrow(called))) == length(sizes)
    copies <- rowSums(derived)
    used <- used & copies > 0 & copies < rowSums(called)
    attr(spectrum, "misidentification") <- misidentification(posterior, mutation, cpg, used)
  }
  spectrum
}

# What the core gives, as a spectrum with its attributes.
site_spectrum <- function(result, sizes, populations) {
  new_spectrum <- function(counts) {
    new_sfs(array(counts, sizes + 1), populations, as_mask(NULL, sizes + 1), FALSE)
  }
  spectrum <- new_spectrum(result$spectrum)
  attr(spectrum, "sites") <- list(
    given = result$sites, used = result$used,
    too_few = stats::setNames(result$too_few, population_labels(spectrum))
  )
  if (ncol(result$bootstrap)) {
    attr(spectrum, "bootstrap") <- lapply(
      seq_len(ncol(result$bootstrap)), function(i) new_spectrum(result$bootstrap[, i])
    )
  }
  spectrum
}

# ---- Arguments ------------------------------------------------------------------------------

# An integer matrix.
as_site_counts <- function(counts, name) {
  if (is.data.frame(counts)) counts <- as.matrix(counts)
  if (!is.numeric(counts) || length(dim(counts)) > 2) {
    abort_ancify(
      sprintf("`%s` must be a numeric matrix with a row for each site, not %s.", name,
              show_value(counts)),
      "input"
    )
  }
  if (!is.matrix(counts)) counts <- matrix(counts)
  if (ncol(counts) < 1 || ncol(counts) > core_limits()$populations) {
    abort_ancify(
      sprintf("`%s` has %d columns: a spectrum is of 1 to %d populations.", name, ncol(counts),
              core_limits()$populations),
      "input"
    )
  }
  if (!is.integer(counts)) {
    wrong <- which(!is.na(counts) & (counts != round(counts) | abs(counts) > .Machine$integer.max))
    if (length(wrong)) {
      abort_ancify(
        sprintf("`%s` is %s at site %d: give whole numbers.", name, format(counts[wrong[1]]),
                arrayInd(wrong[1], dim(counts))[1]),
        "input"
      )
    }
    storage.mode(counts) <- "integer"
  }
  counts
}

called_haplotypes <- function(called, derived) {
  if (is.numeric(called) && is.null(dim(called)) && length(called) == ncol(derived)) {
    called <- matrix(rep(called, each = nrow(derived)), ncol = ncol(derived))
  }
  called <- as_site_counts(called, "called")
  if (!identical(dim(called), dim(derived))) {
    abort_ancify(
      sprintf(
        "`called` is %d x %d, but `derived` is %d x %d: give as many, or one for each population.",
        nrow(called), ncol(called), nrow(derived), ncol(derived)
      ),
      "input"
    )
  }
  called
}

check_site_counts <- function(derived, called, populations) {
  right <- derived >= 0L & derived <= called
  wrong <- which(is.na(right) | !right)
  if (length(wrong)) {
    at <- arrayInd(wrong[1], dim(derived))
    abort_ancify(
      sprintf(
        "Site %d has %s derived of %s called haplotypes in %s: give whole numbers from 0 to these.",
        at[1], derived[wrong[1]], called[wrong[1]],
        populations[at[2]] %||% paste("population", at[2])
      ),
      "input"
    )
  }
}

check_vector <- function(x, name) {
  if (!is.atomic(x)) {
    abort_ancify(
      sprintf("`%s` must be a vector with a value for each site, not %s.", name, show_value(x)),
      "input"
    )
  }
}

# What is given for each site.
check_of_sites <- function(sites, posterior, mutation, cpg, windows) {
  given <- list(posterior = posterior, mutation = mutation, cpg = cpg, windows = windows)
  given <- Filter(Negate(is.null), given)
  for (name in names(given)) check_vector(given[[name]], name)
  if (length(given)) do.call(check_same_sites, as.list(c(derived = sites, lengths(given))))
  refuse <- function(name, wrong, what) {
    if (length(wrong)) {
      abort_ancify(
        sprintf("`%s` is %s at site %d: %s.", name, format(given[[name]][wrong[1]]), wrong[1],
                what),
        "input"
      )
    }
  }
  if (!is.null(posterior)) {
    refuse("posterior", which(!in_unit_interval(posterior)), "give a probability from 0 to 1")
  }
  if (!is.null(cpg) && !is.logical(cpg)) refuse("cpg", 1, "give TRUE or FALSE")
  for (name in setdiff(names(given), "posterior")) {
    refuse(name, which(is.na(given[[name]])), "give one for each site")
  }
  if (is.null(posterior) && any(c("mutation", "cpg") %in% names(given))) {
    abort_ancify(
      "`mutation` and `cpg` are for the misidentification that a `posterior` tells: give one.",
      "input"
    )
  }
}

in_unit_interval <- function(x) {
  if (is.numeric(x)) !is.na(x) & x >= 0 & x <= 1 else rep(FALSE, length(x))
}

# 800 MB
most_cells <- 1e8

# Integers in the order of the populations. `most`: haplotypes called in each where most are.
sizes_to_project <- function(project, most, populations) {
  labels <- populations %||% paste("population", seq_along(most))
  project <- if (is.null(project)) most else order_sizes(project, labels)
  wrong <- which(!(is.finite(project) & project == round(project) & project >= 1 & project <= most))
  if (length(wrong) && most[wrong[1]] == 0) {
    abort_ancify(
      sprintf("The haplotypes called in %s are 0 at most: no site has any.", labels[wrong[1]]),
      "input"
    )
  }
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "`project` is %s for %s: give a whole number from 1 to %d, the most haplotypes called.",
        format(unname(project[wrong[1]])), labels[wrong[1]], most[wrong[1]]
      ),
      "input"
    )
  }
  if (prod(project + 1) > most_cells) {
    abort_ancify(
      sprintf("The spectrum would have %s cells, more than %s; `project` can make it smaller.",
              format_count(prod(project + 1)), format_count(most_cells)),
      "input"
    )
  }
  as.integer(project)
}

# Sizes in the order of the populations, which may name them.
order_sizes <- function(project, labels) {
  if (!is.null(names(project)) && is.numeric(project)) {
    if (!setequal(names(project), labels) || length(project) != length(labels)) {
      abort_ancify(
        sprintf("`project` names %s, but the populations are %s.",
                enumerate(quoted(names(project))), enumerate(quoted(labels))),
        "input"
      )
    }
    project <- project[labels]
  }
  if (!is.numeric(project) || length(project) != length(labels)) {
    abort_ancify(
      sprintf("`project` must be a number of haplotypes for each of %s, not %s.",
              count_of(length(labels), "population"), show_value(project)),
      "input"
    )
  }
  project
}

# A column for each replicate of how often each of so many windows is drawn.
draw_windows <- function(n, replicates) {
  check_whole_number(replicates, "replicates")
  if (n < 2) {
    abort_ancify(
      sprintf("A bootstrap draws from windows, but there %s: give smaller ones.",
              if (n == 1) "is only one" else "are none"),
      "input"
    )
  }
  vapply(seq_len(replicates), function(i) tabulate(sample.int(n, n, TRUE), n), integer(n))
}

no_draws <- matrix(0L, 0, 0)

# ---- Misidentification ------------------------------------------------------------------------

misidentification <- function(posterior, mutation, cpg, used) {
  kinds <- list()
  kinds$mutation <- mutation[used]
  kinds$cpg <- cpg[used]
  p <- posterior[used]
  group <- if (length(kinds) && length(p)) {
    interaction(kinds, drop = TRUE, lex.order = TRUE)
  } else {
    factor(rep("all", length(p)))
  }
  # By factor codes, so that rows are in the order of the levels.
  sum_by_group <- function(values) as.vector(rowsum(values, as.integer(group)))
  sums <- data.frame(
    sites = as.double(tabulate(group, nlevels(group))), errors = sum_by_group(1 - p),
    variance = sum_by_group(p * (1 - p))
  )
  first <- match(levels(group), group)
  misidentification_rates(lapply(kinds, `[`, first), sums)
}

# `sums` of sites, of the chances of errors and of their variances, a row for each kind.
misidentification_rates <- function(kinds, sums) {
  rates <- data.frame(
    sites = sums$sites, rate = sums$errors / sums$sites,
    std_error = sqrt(sums$variance) / sums$sites
  )
  if (length(kinds)) cbind(as.data.frame(kinds), rates) else rates
}
