# How far sequencing at low depth moves the fit of a growing population, with and without the model
# of coverage, and from genotype likelihoods:
#
#   Rscript benchmarks/low_coverage.R [replicates]
#
# Samples come from simulated coalescence times, not from the diffusion that is fitted. Reads have
# no errors. Likelihoods are by qualities that say so (60), and by qualities that are too low (30).
library(ancify)
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE)))
source(file.path(here, "..", "tests", "testthat", "helper-coverage.R"))

truth <- c(nu = 8, time = 0.4, theta = 6000)
individuals <- c(A = 20)
depth <- 4
given <- commandArgs(TRUE)
replicates <- if (length(given)) as.integer(given[1]) else 5

# The time until the pair's chance of coalescence has this integral, when sizes fall exponentially
# from nu to 1 over `time`, going back.
time_of <- function(integral, nu, time) {
  recent <- time / log(nu) * (1 - 1 / nu)
  ifelse(integral < recent,
         time / log(nu) * log1p(pmin(integral, recent) * log(nu) * nu / time),
         time + integral - recent)
}

# The expected spectrum of n haplotypes, by the times with k = n, ..., 2 lineages. A lineage then
# has i descendants with probability C(n - i - 1, k - 2) / C(n - 1, k - 1).
coalescent_spectrum <- function(n, nu, time, trees = 2e5) {
  k <- n:2
  waits <- matrix(stats::rexp(trees * (n - 1), rep(k * (k - 1) / 2, each = trees)), trees)
  ends <- time_of(t(apply(waits, 1, cumsum)), nu, time)
  lengths <- colMeans(cbind(ends[, 1], ends[, -1] - ends[, -ncol(ends)]))
  i <- seq_len(n - 1)
  shares <- vapply(k, function(k) choose(n - i - 1, k - 2) / choose(n - 1, k - 1), numeric(n - 1))
  sfs(c(0, as.vector(shares %*% (k * lengths)) / 2, 0), "A")
}

estimates <- function(spectrum, sampling = "analytic") {
  fit <- suppressWarnings(fit_demography(
    demography_model("growth"), spectrum, truth[c("nu", "time")], starts = 1, pts = c(50, 60, 70),
    sampling = sampling, threads = 1, progress = FALSE
  ))
  c(fit$params, theta = fit$theta)[names(truth)]
}

set.seed(1)
expected <- truth[["theta"]] * coalescent_spectrum(2 * individuals, truth[["nu"]], truth[["time"]])
populations <- populations_of_reads(individuals)
found <- lapply(seq_len(replicates), function(i) {
  sites <- draw_sites(expected)
  simulated <- simulate_reads(sites, individuals, depth)
  vcf <- write_reads_vcf(simulated, error = 1e-6)
  low_quality <- write_reads_vcf(simulated, error = 1e-3)
  on.exit(unlink(c(vcf, low_quality)))
  coverage <- read_coverage(vcf, populations, progress = FALSE)
  called <- sfs_from_vcf(vcf, populations, project = c(A = 32), threads = 1, progress = FALSE)
  likely <- function(vcf) {
    sfs_from_likelihoods(vcf, populations, coverage = coverage, threads = 1, progress = FALSE)
  }
  true <- sfs(tabulate(sites + 1, 2 * individuals + 1), "A")
  rbind(
    "true genotypes" = estimates(true), "called genotypes" = estimates(called),
    "called genotypes, low coverage" = estimates(called, sampling_low_coverage(coverage)),
    "genotype likelihoods" = estimates(likely(vcf)),
    "genotype likelihoods, low quality" = estimates(likely(low_quality))
  )
})
bias <- 100 * sweep(Reduce(`+`, found) / replicates, 2, truth, `/`) - 100
spread <- apply(simplify2array(found), 1:2, stats::sd)
cat(sprintf("Bias in %% of the truth, mean of %d replicates:\n", replicates))
print(round(bias, 1))
cat("Standard deviation of one replicate, in % of the truth:\n")
print(round(100 * sweep(spread, 2, truth, `/`), 1))
