#' Make a spectrum from allele counts
#'
#' Makes the joint site frequency spectrum of up to five populations from the allele counts of
#' sites: `sfs_from_sites(derived, called, project = 10)`. Sites with missing genotypes are
#' projected to a common sample size. Posteriors account for uncertain ancestral alleles.
#'
#' **Projection.** A site has d derived copies among c called haplotypes. It adds to the cell of k
#' copies the hypergeometric probability that k of `project` haplotypes, drawn without
#' replacement, are derived ([project_sfs()]). Probabilities are multiplied over populations.
#' Sites with fewer called haplotypes than `project`, in any population, are excluded and counted.
#'
#' **Posteriors.** A site with `posterior` p adds p times its projection, and 1 - p times the
#' projection with exchanged alleles. If [polarise_sites()] gives posteriors p and q for a site's
#' two alleles, use p / (p + q).
#'
#' **Misidentification** is the expected share of sites with a wrong ancestral allele: the mean of
#' 1 - p over used sites that vary in the sample, for each given mutation type and CpG state.
#'
#' **Bootstrap.** Each replicate draws as many windows as `windows` has, with replacement, and
#' computes the spectrum of their sites. Windows, such as intervals of a million bases, keep linked
#' sites together. `set.seed()` makes the draws reproducible.
#'
#' Ten million sites take seconds. The number of threads does not change the result.
#'
#' @param derived Copies of the derived allele: whole numbers, a matrix with a row per site and a
#'   column per population, or a vector for one population.
#' @param called Called haplotypes: whole numbers in the shape of `derived`, or one number per
#'   population if it is constant over sites.
#' @param populations Names of the populations. Default: the column names of `derived`.
#' @param project Sample size of the spectrum: haplotypes for each population, in order or named.
#'   Default: the maximum called at any site, so sites with missing genotypes are excluded.
#' @param posterior For each site the probability, from 0 to 1, that its ancestral allele is right.
#'   `NULL` (the default): all are certain.
#' @param mutation For each site its mutation type, such as `"C>T"`; any labels. `NULL` (the
#'   default): one misidentification rate for all types.
#' @param cpg For each site whether it is in a CpG, a logical vector. `NULL` (the default): one
#'   rate for both.
#' @param windows For each site its window; any labels. `NULL` (the default): no bootstrap.
#' @param replicates Number of bootstrap spectra, 100 by default. Used only with `windows`.
#' @param threads Number of threads. `NULL` (the default): `getOption("ancify.threads")`, or else
#'   all cores.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @return An unfolded [sfs()]. If ancestral alleles are unknown, count either allele and [fold()]
#'   the spectrum. It has these attributes:
#' * `sites`: a list of the numbers of sites `given` and `used`, and `too_few`: for each population
#'   the number of sites with too few called haplotypes.
#' * `misidentification`: only with a `posterior`, a data frame of `mutation` and `cpg` (if given),
#'   `sites`, `rate` and `std_error`, which assumes independent sites.
#' * `bootstrap`: only with `windows`, a list of spectra.
#' @section Errors:
#' * `ancify_input_error`: a site's counts are not whole numbers from 0 to the called haplotypes,
#'   or its posterior is outside 0 to 1. The message names the first such site.
#' * `ancify_input_error`: arguments differ in their number of sites; there are more than five
#'   populations; no site has `project` called haplotypes; a bootstrap has fewer than two windows;
#'   or the spectrum has too many cells for R.
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
  check_all_cells(sizes, 1 + ncol(draws))
  work <- new_work(threads, progress = progress)

  result <- with_watch("Making the spectrum", function(watch) {
    sites <- core_list(
      "SitesInMemory",
      derived = derived, called = called, posterior = as.double(posterior), window = window
    )
    sfs_from_sites_impl(sites, sizes, draws, work, watch)
  }, work$progress)
  spectrum <- site_spectrum(result, sizes, populations)
  if (!is.null(posterior)) {
    used <- rowSums(called >= rep(sizes, each = nrow(called))) == length(sizes)
    copies <- rowSums(derived)
    used <- used & copies > 0 & copies < rowSums(called)
    attr(spectrum, "misidentification") <- misidentification(posterior, mutation, cpg, used)
  }
  spectrum
}

# The core's result as a spectrum with its attributes.
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

# Counts as an integer matrix.
as_site_counts <- function(counts, name) {
  if (is.data.frame(counts)) counts <- as.matrix(counts)
  must_be(is.numeric(counts) && length(dim(counts)) <= 2, counts, name,
          "a numeric matrix with a row for each site")
  if (!is.matrix(counts)) counts <- matrix(counts)
  refuse_if(ncol(counts) < 1 || ncol(counts) > core_limits()$populations,
            "`%s` has %d columns, but a spectrum has 1 to %d populations.", name, ncol(counts),
            core_limits()$populations)
  if (!is.integer(counts)) {
    wrong <- which(!is.na(counts) & (counts != round(counts) | abs(counts) > .Machine$integer.max))
    refuse_if(length(wrong), "`%s` is %s at site %d: give whole numbers.", name,
              format(counts[wrong[1]]), arrayInd(wrong[1], dim(counts))[1])
    storage.mode(counts) <- "integer"
  }
  counts
}

called_haplotypes <- function(called, derived) {
  if (is.numeric(called) && is.null(dim(called)) && length(called) == ncol(derived)) {
    called <- matrix(rep(called, each = nrow(derived)), ncol = ncol(derived))
  }
  called <- as_site_counts(called, "called")
  refuse_if(
    !identical(dim(called), dim(derived)),
    "`called` is %d x %d: make it %d x %d like `derived`, or give one number per population.",
    nrow(called), ncol(called), nrow(derived), ncol(derived)
  )
  called
}

check_site_counts <- function(derived, called, populations) {
  right <- derived >= 0L & derived <= called
  wrong <- which(is.na(right) | !right)
  if (length(wrong)) {
    at <- arrayInd(wrong[1], dim(derived))
    refuse_input(
      "Site %d has %s derived of %s called haplotypes in %s: give 0 to as many as are called.",
      at[1], derived[wrong[1]], called[wrong[1]], populations[at[2]] %||% paste("population", at[2])
    )
  }
}

check_vector <- function(x, name) {
  must_be(is.atomic(x), x, name, "a vector with a value for each site")
}

# Checks the arguments that have a value for each site.
check_of_sites <- function(sites, posterior, mutation, cpg, windows) {
  given <- list(posterior = posterior, mutation = mutation, cpg = cpg, windows = windows)
  given <- Filter(Negate(is.null), given)
  for (name in names(given)) check_vector(given[[name]], name)
  if (length(given)) do.call(check_same_sites, as.list(c(derived = sites, lengths(given))))
  refuse <- function(name, wrong, what) {
    refuse_if(length(wrong), "`%s` is %s at site %d: %s.", name, format(given[[name]][wrong[1]]),
              wrong[1], what)
  }
  if (!is.null(posterior)) {
    refuse("posterior", which(!in_unit_interval(posterior)), "give a probability from 0 to 1")
  }
  if (!is.null(cpg) && !is.logical(cpg)) refuse("cpg", 1, "give TRUE or FALSE")
  for (name in setdiff(names(given), "posterior")) {
    refuse(name, which(is.na(given[[name]])), "give a value for each site")
  }
  refuse_if(is.null(posterior) && any(c("mutation", "cpg") %in% names(given)),
            "`mutation` and `cpg` need a `posterior`, for rates of misidentification.")
}

in_unit_interval <- function(x) {
  if (is.numeric(x)) !is.na(x) & x >= 0 & x <= 1 else rep(FALSE, length(x))
}

# Maximum number of cells of a spectrum: 800 MB.
most_cells <- 1e8
# Maximum number of cells of a spectrum with its bootstrap, or of the spectra of classes: 8 GB.
most_cells_in_all <- 1e9
# Maximum sample size that is chosen by default. In larger samples, few sites are called in all.
most_by_default <- 1e5

# Sample sizes: integers in the order of the populations. `most`: for each population the maximum
# number of called haplotypes at any site.
sizes_to_project <- function(project, most, populations) {
  labels <- populations %||% paste("population", seq_along(most))
  large <- if (is.null(project)) which(most > most_by_default)
  project <- if (is.null(project)) most else order_sizes(project, labels)
  wrong <- which(!(is.finite(project) & project == round(project) & project >= 1 & project <= most))
  refuse_if(length(wrong) && most[wrong[1]] == 0, "No site has a called haplotype in %s.",
            labels[wrong[1]])
  refuse_if(
    length(wrong),
    "`project` is %s for %s: give a whole number from 1 to %d, the most called at any site.",
    format(unname(project[wrong[1]])), labels[wrong[1]], most[wrong[1]]
  )
  refuse_if(prod(project + 1) > most_cells,
            "The spectrum would have %s cells, more than %s: give a smaller `project`.",
            format_count(prod(project + 1)), format_count(most_cells))
  refuse_if(length(large),
            "%s has up to %s haplotypes: give `project`, the size to which sites are projected.",
            labels[large[1]], format_count(most[large[1]]))
  as.integer(project)
}

check_all_cells <- function(sizes, spectra) {
  cells <- spectra * prod(sizes + 1)
  refuse_if(
    cells > most_cells_in_all,
    "%s spectra would have %s cells, more than %s: give a smaller `project`, or fewer of them.",
    format_count(spectra), format_count(cells), format_count(most_cells_in_all)
  )
}

# Sizes in the order of the populations. Names of `project` are population names.
order_sizes <- function(project, labels) {
  if (!is.null(names(project)) && is.numeric(project)) {
    refuse_if(!setequal(names(project), labels) || length(project) != length(labels),
              "`project` names %s, but the populations are %s.", enumerate(quoted(names(project))),
              enumerate(quoted(labels)))
    project <- project[labels]
  }
  must_be(is.numeric(project) && length(project) == length(labels), project, "project",
          sprintf("a number of haplotypes for each of %s", count_of(length(labels), "population")))
  project
}

# The multiplicities of n windows: a row for each window, a column for each replicate.
draw_windows <- function(n, replicates) {
  check_whole_number(replicates, "replicates")
  refuse_if(n < 2, "A bootstrap needs at least two windows, but there %s: give smaller windows.",
            if (n == 1) "is only one" else "are none")
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
  # Factor codes keep the rows in the order of the levels.
  sum_by_group <- function(values) as.vector(rowsum(values, as.integer(group)))
  sums <- data.frame(
    sites = as.double(tabulate(group, nlevels(group))), errors = sum_by_group(1 - p),
    variance = sum_by_group(p * (1 - p))
  )
  first <- match(levels(group), group)
  misidentification_rates(lapply(kinds, `[`, first), sums)
}

# `sums`: sites, expected errors and their variance, a row for each kind of site.
misidentification_rates <- function(kinds, sums) {
  rates <- data.frame(
    sites = sums$sites, rate = sums$errors / sums$sites,
    std_error = sqrt(sums$variance) / sums$sites
  )
  if (length(kinds)) cbind(as.data.frame(kinds), rates) else rates
}
