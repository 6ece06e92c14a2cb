#' Estimate a spectrum from genotype likelihoods
#'
#' Estimates the joint spectrum of up to five populations from genotype likelihoods, without calling
#' genotypes: `sfs_from_likelihoods("variants.vcf.gz", "populations.txt")`. It suits low depth,
#' where genotypes are uncertain. An EM algorithm finds the maximum-likelihood spectrum.
#'
#' @details
#' **Likelihoods** are `GL` of FORMAT, or else `PL`, three for each diploid individual. A sample
#' without them could have any genotype. Sites, ancestral alleles and their posteriors are those of
#' [sfs_from_vcf()]. The spectrum covers all haplotypes: [project_sfs()] reduces it. It is correct
#' only if base qualities are: if they are too low, doubletons become singletons.
#'
#' **Ascertainment.** Without `coverage`, the file must have all sites, or sites chosen without
#' regard to alleles. Sites invariant in all samples then go to masked cells. Most files have only
#' sites at which a caller saw the allele, so many rare alleles are missing. With `coverage`, the
#' cells are divided by the probability that a site is detected. All reads used for detection must
#' then be from these samples. Therefore omit `coverage` with `subset = TRUE`.
#'
#' **The search** uses the accelerated EM algorithm of Varadhan and Roland. It ends when three steps
#' increase the log-likelihood by less than 0.001, or after 3,000 steps with a warning.
#'
#' @param populations The population of each sample: a vector, a data frame or a file, as in
#'   [sfs_from_vcf()].
#' @inheritParams sfs_from_vcf
#' @param coverage A [coverage_model()] of these populations, such as from [read_coverage()], for a
#'   file that contains only detected sites. `NULL` (the default): the file has all sites.
#' @return An unfolded [sfs()] of expected counts, with these attributes:
#' * `records`: a data frame of `reason`, as from [sfs_from_vcf()], and `records`. Its reason
#'   `NO_LIKELIHOODS` replaces `TOO_FEW`.
#' * `letters`: with `AA` of INFO, a data frame of `letter` and `records` ([annotate_vcf()]).
#' * `log_likelihood`: the natural logarithm, up to a constant.
#' * `bootstrap`: only with a `window`, a list of spectra.
#' @section Errors:
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged or violates its format; or a
#'   sample has a likelihood above 1, or likelihoods that do not describe a diploid individual.
#' * `ancify_input_error`: samples and populations, including those of `coverage`, do not match;
#'   there are more than five populations; no record is a site with likelihoods; `coverage` excludes
#'   detection of a site; or a bootstrap has fewer than two windows.
#' * `ancify_file_error` (field `file`): a file cannot be read.
#' * `ancify_package_error`: ancify was built without htslib.
#' * `ancify_fit_warning`: the search has not converged, for the spectrum or for bootstrap
#'   replicates.
#' @references
#' Li (2011) A statistical framework for SNP calling, mutation discovery, association mapping and
#' population genetical parameter estimation from sequencing data. Bioinformatics 27:2987.
#'
#' Nielsen, Korneliussen, Albrechtsen, Li and Wang (2012) SNP calling, genotype calling, and sample
#' allele frequency estimation from new-generation sequencing data. PLoS ONE 7:e37558.
#'
#' Varadhan and Roland (2008) Simple and globally convergent methods for accelerating the
#' convergence of any EM algorithm. Scandinavian Journal of Statistics 35:335.
#' @seealso [sfs_from_vcf()] for called genotypes, [coverage_model()], [fold()] if no ancestral
#'   alleles are known
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' records <- c(
#'   "1\t100\t.\tA\tC\t.\t.\tAA=A\tPL\t0,3,40\t20,0,20\t0,6,80",
#'   "1\t200\t.\tG\tT\t.\t.\tAA=T\tPL\t0,3,40\t40,3,0\t30,0,50",
#'   "1\t300\t.\tG\tT\t.\t.\tAA=G\tPL\t0,9,90\t0,3,40\t25,0,9"
#' )
#' vcf <- tempfile(fileext = ".vcf")
#' writeLines(c(
#'   "##fileformat=VCFv4.2", "##contig=<ID=1>",
#'   "##FORMAT=<ID=PL,Number=G,Type=Integer,Description=\"Likelihoods\">",
#'   "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2\ts3", records
#' ), vcf)
#' sfs_from_likelihoods(vcf, c(s1 = "YRI", s2 = "YRI", s3 = "YRI"), threads = 1)
sfs_from_likelihoods <- function(vcf, populations, ancestral = NULL, coverage = NULL,
                                 low_confidence = TRUE, subset = FALSE, window = NULL,
                                 replicates = 100, threads = NULL, progress = interactive(),
                                 mask = NULL) {
  check_args(vcf = one_path(), mask = optional(one_path()))
  if (is_info(ancestral)) ancestral <- NULL
  if (!is.null(ancestral)) ancestral <- folder_of_calls(ancestral, "ancestral")
  check_args(low_confidence = flag(), subset = flag(), window = optional(whole(2^53)))
  work <- new_work(threads, progress = progress)
  check_htslib()
  table <- population_table(populations)
  names <- unique(table$population)
  samples <- variant_samples_impl(vcf)
  check_samples(samples, table, vcf, subset)
  numbers <- sample_populations(samples, table)
  chances <- check_found(coverage, stats::setNames(tabulate(numbers + 1, length(names)), names))
  found <- with_watch("Reading", function(watch) {
    options <- core_list(
      "LikelihoodOptions",
      use_info = is.null(ancestral), mask = mask %||% "", low_confidence = low_confidence,
      work = work, window = window %||% 0
    )
    located <- c(ancestral, mask)
    chromosomes <- if (length(located)) variant_chromosomes_impl(vcf, watch) else character()
    read_likelihoods_impl(vcf, numbers, record_sequences(chromosomes, ancestral, NULL), options,
                          watch)
  }, work$progress)
  if (!is.null(ancestral)) warn_about_unmatched(found$chromosomes, ancestral)
  warn_about_positions(found, vcf, is.null(ancestral))
  left_out <- records_left_out(found, low_confidence)
  check_any_site(found, left_out, vcf, is.null(ancestral))
  check_any_likelihood(found, vcf)
  draws <- if (is.null(window)) no_draws else draw_windows(found$windows, replicates)

  estimate <- function(weights, start) {
    with_watch("EM", function(watch) {
      likeliest_counts(function(prior) {
        likelihood_step_impl(found$table, prior, weights, work, watch)
      }, chances, start)
    })
  }
  new_spectrum <- function(counts) {
    new_sfs(array(counts, found$sizes + 1), names, as_mask(NULL, found$sizes + 1), FALSE)
  }
  all <- estimate(rep(1L, found$windows), array(1, found$sizes + 1))
  if (!all$converged) {
    warn_ancify("EM has not converged in 3,000 steps: the spectrum is of the last step.", "fit")
  }
  spectrum <- new_spectrum(all$counts)
  records <- c(left_out, NO_LIKELIHOODS = found$without, USED = found$sites)
  if (is.null(ancestral)) attr(spectrum, "letters") <- found$letters
  attr(spectrum, "records") <- data.frame(reason = names(records), records = unname(records))
  attr(spectrum, "log_likelihood") <- all$log_likelihood
  if (ncol(draws)) {
    # Start near the estimate, where no cell is 0.
    start <- all$counts + mean(all$counts) / 10
    estimates <- lapply(seq_len(ncol(draws)), function(i) estimate(draws[, i], start))
    attr(spectrum, "bootstrap") <- lapply(estimates, function(one) new_spectrum(one$counts))
    warn_about_replicates(estimates)
  }
  spectrum
}

warn_about_replicates <- function(estimates) {
  converged <- vapply(estimates, `[[`, TRUE, "converged")
  if (all(converged)) {
    return(invisible())
  }
  warn_ancify(sprintf(
    "EM has not converged in 3,000 steps for %s of %d: give a larger `window`.",
    count_of(sum(!converged), "bootstrap replicate"), length(converged)
  ), "fit")
}

# The probability that a site is detected, for each cell: an array, or 1 if the file has all sites.
check_found <- function(coverage, individuals) {
  if (is.null(coverage)) {
    return(1)
  }
  there <- if (inherits(coverage, "coverage_model")) coverage$individuals
  refuse_if(!identical(unname(there), unname(individuals)) ||
              !(is.null(names(there)) || identical(names(there), names(individuals))),
            "`coverage` must be a coverage_model() of %s, not %s.",
            enumerate(sprintf("%d individuals of %s", individuals, names(individuals))),
            show_value(coverage))
  chances_of_sites(coverage)
}

check_any_likelihood <- function(found, vcf) {
  refuse_if(found$sites == 0, "%s has no genotype likelihoods, GL or PL, at its %s.", quoted(vcf),
            count_of(found$without, "site"))
}

# The maximum-likelihood counts. `step`: a function of a prior that returns the expected counts of
# the sites in the file, and the log-likelihood. `chances`: detection probability of each cell.
likeliest_counts <- function(step, chances, start) {
  there <- rep_len(chances > 1e-12, length(start))
  # Shares refer to sites in the file; a cell's likelihood refers to detected sites.
  step_of <- function(shares) {
    prior <- ifelse(there, shares / chances, 0)
    after <- step(as.vector(prior))
    if (after$log_likelihood == -Inf) refuse_unfound_sites()
    list(shares = after$counts / sum(after$counts), log_likelihood = after$log_likelihood,
         sites = sum(after$counts))
  }
  shares <- ifelse(there, as.vector(start), 0)
  end <- maximise_by_em(step_of, shares / sum(shares), tolerance = 1e-3, cycles = 1000)
  counts <- ifelse(there, end$shares * end$sites / chances, 0)
  list(counts = counts, log_likelihood = end$log_likelihood, converged = end$converged)
}

refuse_unfound_sites <- function() {
  refuse_input(
    paste(
      "Some sites do not vary in these samples, so by `coverage` they cannot have been found.",
      "Leave them out (`bcftools view --min-ac 1:minor`), or give no `coverage`."
    )
  )
}

# Each cycle takes two EM steps and extrapolates them. A third step decides whether the
# extrapolation is better than the second step.
maximise_by_em <- function(step, start, tolerance, cycles) {
  before <- -Inf
  for (cycle in seq_len(cycles)) {
    first <- step(start)
    second <- step(first$shares)
    third <- step(extrapolate_em(start, first$shares, second$shares))
    leaps <- isTRUE(third$log_likelihood >= second$log_likelihood)
    best <- if (leaps) third else second
    start <- best$shares
    converged <- best$log_likelihood - before < tolerance
    if (converged) break
    before <- best$log_likelihood
  }
  list(shares = start, log_likelihood = best$log_likelihood, sites = first$sites,
       converged = converged)
}

extrapolate_em <- function(start, first, second) {
  step <- first - start
  bend <- second - first - step
  length <- sqrt(sum(step^2) / sum(bend^2))
  if (!is.finite(length) || length <= 1) {
    return(second)
  }
  far <- start + 2 * length * step + length^2 * bend
  # Shares must stay positive.
  far <- pmax(far, second / 10)
  far / sum(far)
}
