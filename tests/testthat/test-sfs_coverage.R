# Spectra of called genotypes at low depth.

some_depths <- c(1, 3, 5, 4, 2, 1, 0.5) / 16.5

test_that("called copies are those of all placements, depths and reads", {
  depths <- c(0.2, 0.3, 0.35, 0.15)
  for (size in c(2, 3, 4)) {
    for (reads in 0:2) {
      found <- called_chances(depths, 2, reads, size)
      for (copies in 0:4) {
        expected <- oracle_called(copies, depths, 2, reads, size)
        for (t in seq_len(reads)) expect_equal(found[[t]][, copies + 1], expected[, t])
        expect_equal(found[[reads + 1]][, copies + 1], rowSums(expected))
      }
    }
  }
  # Whether a site is found does not need enough called haplotypes
  found <- found_chances(depths, 2, 2)
  for (copies in 0:4) {
    expected <- colSums(oracle_called(copies, depths, 2, 2, 0))
    expect_equal(vapply(found, `[`, 0, copies + 1), c(expected[1:2], 1))
  }
})

test_that("sites are missed and called as in dadi's model", {
  theirs <- utils::read.csv(test_path("fixtures", "dadi_coverage.csv"))
  of <- split(theirs, theirs$what)
  rows <- found_chances(some_depths, 5, 2)
  expect_equal(as.vector(rows[[1]] + rows[[2]]), of$missed$value)

  called <- called_chances(some_depths, 4, 0, 8)[[1]] / (1 - some_depths[1])^4
  expect_equal(as.vector(called), of$called$value)

  # Theirs is a simulation of 200,000 sites
  coverage <- coverage_model(list(some_depths, some_depths), c(3, 2))
  counts <- array(0, c(7, 5))
  counts[3, 2] <- 1
  seen <- called_counts(counts, called_matrices(coverage, c(6, 4)))
  simulated <- matrix(of$simulated$value, 7, byrow = TRUE)
  error <- sqrt(pmax(seen * (1 - seen), 1e-5) / 2e5)
  expect_lt(max(abs(seen - simulated)[-1] / error[-1]), 4.5) # [0, 0] has missed sites in theirs
})

test_that("at high depth the spectrum is a projection", {
  model <- demography_model("split_mig")
  params <- c(nu1 = 2, nu2 = 0.5, time = 0.2, m = 1)
  high <- coverage_model(list(A = c(numeric(60), 1), B = c(numeric(60), 1)), c(4, 3), reads = 1)
  pts <- c(15, 20)
  full <- expected_sfs(model, params, c(A = 8, B = 6), pts)
  sampling <- sampling_low_coverage(high)
  all <- expected_sfs(model, params, c(A = 8, B = 6), pts, sampling = sampling)
  expect_equal(as.array(all), as.array(full))
  projected <- project_sfs(full, c(5, 4))
  seen <- expected_sfs(model, params, c(A = 5, B = 4), pts, sampling = sampling)
  expect_equal(as.vector(seen), as.vector(projected))
  expect_identical(dimnames(seen), dimnames(projected))
})

test_that("depths of called genotypes are measured", {
  require_htslib()
  records <- vcf_records("1", 1:4, c("A", "A", "AC", "G"), c("C", "C,G", "A", "T"), "AA=A")
  genotypes <- rbind(c("0/1:3", "./.:2", "0/0:."), c("0/1:9", "0/1:9", "0/1:9"),
                     c("0/1:9", "0/1:9", "0/1:9"), c("1/1:1", "0/1:4", "0/0:2000"))
  path <- genotype_vcf(records, genotypes, "GT:DP")
  populations <- c(s1 = "A", s2 = "A", s3 = "B")
  coverage <- read_coverage(path, populations)
  expect_identical(coverage$sites, 2)
  expect_identical(coverage$individuals, c(A = 2L, B = 1L))
  expect_equal(coverage$depths$A, c(1, 1, 0, 1, 1) / 4)
  expect_equal(coverage$depths$B, c(0.5, numeric(999), 0.5))
  expect_output(print(coverage), "2 individuals, mean depth 2, 75 % of genotypes", fixed = TRUE)

  none <- genotype_vcf(records, sub(":.*", "", genotypes))
  expect_ancify_error(read_coverage(none, populations), "format", "has depths (DP)")
  negative <- genotype_vcf(records, sub(":3", ":-3", genotypes), "GT:DP")
  expect_ancify_error(read_coverage(negative, populations), "format", "DP is negative")
  for (call in c("1:3", "0/1/1/1:3")) {
    others <- genotype_vcf(records, sub("0/1:3", call, genotypes), "GT:DP")
    expect_ancify_error(read_coverage(others, populations), "format", "is not diploid")
  }
  uncalled <- genotypes
  uncalled[, 3] <- ".:3"
  uncalled <- genotype_vcf(records, uncalled, "GT:DP")
  expect_ancify_error(read_coverage(uncalled, populations), "format",
                      "no called genotype of population 'B' has a depth")
})

test_that("a fit to called genotypes at 4-fold depth has the truth, and without depths has not", {
  require_htslib()
  set.seed(4)
  truth <- c(nu = 5, time = 0.3)
  model <- demography_model("two_epoch")
  individuals <- c(YRI = 10)
  simulated <- simulate_reads(
    draw_sites(3000 * expected_sfs(model, truth, c(YRI = 20), c(30, 40, 50))), individuals, 4
  )
  path <- write_reads_vcf(simulated)
  populations <- populations_of_reads(individuals)
  spectrum <- sfs_from_vcf(path, populations, project = c(YRI = 16), threads = 1)
  fit <- function(sampling) {
    fit_demography(model, spectrum, truth, fixed = c(time = 0.3), starts = 1, pts = c(30, 40),
                   sampling = sampling, tolerance = 1, threads = 1, progress = FALSE)
  }
  plain <- suppressWarnings(fit("analytic"))
  low <- suppressWarnings(fit(sampling_low_coverage(read_coverage(path, populations))))
  true <- 3000 * project_sfs(expected_sfs(model, truth, c(YRI = 20), c(30, 40, 50)), 16)
  expect_gt(1 - as.array(spectrum)[["1"]] / as.array(true)[["1"]], 0.2)
  expect_gt(abs(plain$params[["nu"]] / 5 - 1), 0.2)
  expect_lt(abs(low$theta / 3000 - 1), 0.05)
  expect_lt(abs(low$params[["nu"]] / 5 - 1), 0.08)
  # The likelihoods of the same file
  unbiased <- sfs_from_likelihoods(path, populations, coverage = read_coverage(path, populations),
                                   threads = 1)
  expected <- 3000 * expected_sfs(model, truth, c(YRI = 20), c(30, 40, 50))
  expect_lt(abs(sum(unbiased) / sum(expected) - 1), 0.05)
  expect_lt(abs(as.array(unbiased)[["1"]] / as.array(expected)[["1"]] - 1), 0.1)
})

test_that("coverage that does not fit is an error", {
  input <- function(expr, pattern) expect_ancify_error(expr, "input", pattern)
  input(coverage_model(c(1, -1), 3), "`depths` must have numbers from 0")
  input(coverage_model(1, 3), "only genotypes of depth 0")
  input(coverage_model(list(), numeric()), "not none")
  named <- coverage_model(list(A = c(0, 1), B = c(0, 1)), c(B = 3, A = 2))
  expect_identical(named$individuals, c(A = 2L, B = 3L))
  input(coverage_model(list(A = c(0, 1)), c(B = 3)), "`individuals` has the populations 'B'")
  input(coverage_model(c(0, 1), 501), "whole number from 1 to 500")
  input(coverage_model(c(0, 1), 2, reads = 11), "`reads` must be")
  input(sampling_low_coverage(4), "must be a coverage_model()")
  two <- sampling_low_coverage(coverage_model(list(A = c(0, 1), B = c(0, 1)), c(2, 2)))
  snm <- demography(event_equilibrium())
  input(expected_sfs(snm, NULL, 4, 20, sampling = two), "has 2 populations")
  split <- demography(event_equilibrium(), event_split(1))
  input(expected_sfs(split, NULL, c(B = 2, A = 2), 20, sampling = two),
        "the populations 'A' and 'B'")
  input(expected_sfs(split, NULL, c(A = 5, B = 2), 20, sampling = two), "has 5 haplotypes")
  many <- sampling_low_coverage(coverage_model(c(0, 1), 20))
  input(expected_sfs(snm, NULL, 4, 20, sampling = many), "too small for 40 haplotypes")
})
