# Spectra from genotype likelihoods.

likelihood_header <- c(vcf_info, paste0(
  "##FORMAT=<ID=", c("PL,Number=G,Type=Integer", "GL,Number=G,Type=Float"), ",Description=\"p\">"
))

likelihood_vcf <- function(records, cells, format = "PL") {
  lines <- paste(records, format, apply(cells, 1, paste, collapse = "\t"), sep = "\t")
  write_vcf(lines, header = vcf_header(lines, more = likelihood_header))
}

# The arrays of oracle_spectrum_em() from phred-scaled likelihoods: a list of sites, each with a
# matrix of three rows and a column for each sample.
oracle_sites <- function(phred, populations) {
  lapply(phred, function(site) {
    rows <- lapply(unique(populations), function(one) {
      oracle_sample_likelihoods(10^(-site[, populations == one, drop = FALSE] / 10))
    })
    if (length(rows) == 1) array(rows[[1]], length(rows[[1]])) else Reduce(outer, rows)
  })
}

random_phred <- function(sites, samples) {
  lapply(seq_len(sites), function(i) {
    reads <- rbinom(samples, 4, rbeta(1, 0.3, 1))
    do.call(rbind, phred_of_reads(reads, 4))
  })
}

cells_of_phred <- function(phred) {
  cells <- vapply(phred, apply, character(ncol(phred[[1]])), 2, paste, collapse = ",")
  t(cells)
}

test_that("the spectrum is that of plain EM, for one and for two populations", {
  require_htslib()
  set.seed(1)
  phred <- random_phred(40, 4)
  records <- vcf_records("1", seq_along(phred), "A", "C", "AA=A")
  path <- likelihood_vcf(records, cells_of_phred(phred))
  for (populations in list(rep("A", 4), c("A", "B", "A", "B"))) {
    found <- sfs_from_likelihoods(path, setNames(populations, paste0("s", 1:4)), threads = 1)
    expected <- oracle_spectrum_em(oracle_sites(phred, populations))
    expect_equal(plain_array(found), expected, tolerance = 0.02, ignore_attr = TRUE)
    expect_equal(sum(plain_array(found)), 40)
    expect_identical(names(dimnames(found)), unique(populations))
    expect_identical(records_of_reason(found)[["USED"]], 40)
    # No other spectrum has a higher likelihood
    value <- function(counts) {
      sites <- oracle_sites(phred, populations)
      sum(log(vapply(sites, function(one) sum(one / max(one) * counts / sum(counts)), 0)))
    }
    expect_gt(value(plain_array(found)), value(expected) - 0.01)
  }
})

test_that("the derived allele may be REF, with a posterior, and GL or PL missing", {
  require_htslib()
  set.seed(2)
  phred <- random_phred(30, 3)
  cells <- cells_of_phred(phred)
  populations <- setNames(rep("A", 3), paste0("s", 1:3))
  plain_em <- function(sites) as.vector(oracle_spectrum_em(sites))
  sites <- oracle_sites(phred, rep("A", 3))
  estimate <- function(info, cells, format = "PL", ...) {
    path <- likelihood_vcf(vcf_records("1", seq_len(nrow(cells)), "A", "C", info), cells, format)
    sfs_from_likelihoods(path, populations, threads = 1, ...)
  }
  close <- function(found, sites) {
    expect_equal(as.vector(plain_array(found)), plain_em(sites), tolerance = 0.02)
  }
  close(estimate("AA=C", cells), lapply(sites, rev))
  close(estimate("AA=A;AA_prob=0.75", cells),
        lapply(sites, function(one) 0.75 * one / max(one) + 0.25 * rev(one) / max(one)))
  logs <- cells_of_phred(lapply(phred, `/`, -10))
  close(estimate("AA=A", logs, "GL"), sites)
  # One sample of the first site is unknown; the last site has none
  cells[1, 2] <- "."
  phred[[1]][, 2] <- 0
  cells[30, ] <- "."
  phred[[30]][] <- 0
  close(estimate("AA=A", cells), oracle_sites(phred, rep("A", 3)))
  some <- paste0("GT:PL", character(30))
  some[30] <- "GT"
  both <- matrix(paste0("0/1:", cells), 30)
  both[30, ] <- "0/1"
  without <- estimate("AA=A", both, some)
  expect_identical(records_of_reason(without)[c("NO_LIKELIHOODS", "USED")],
                   c(NO_LIKELIHOODS = 1, USED = 29))
})

test_that("sites that were not found are estimated", {
  require_htslib()
  set.seed(3)
  individuals <- c(A = 3, B = 2)
  derived <- cbind(rbinom(400, 6, 0.2), rbinom(400, 4, 0.2))
  simulated <- simulate_reads(derived, individuals, 3)
  path <- write_reads_vcf(simulated)
  populations <- populations_of_reads(individuals)
  coverage <- coverage_model(list(A = dpois(0:20, 3), B = dpois(0:20, 3)), individuals)
  found <- sfs_from_likelihoods(path, populations, coverage = coverage, threads = 1)
  keep <- rowSums(simulated$reads) >= 2
  phred <- lapply(which(keep), function(i) {
    do.call(rbind, phred_of_reads(simulated$reads[i, ], simulated$depths[i, ]))
  })
  expected <- oracle_spectrum_em(
    oracle_sites(phred, unname(populations)), chances_of_sites(coverage), 300
  )
  expect_lt(max(abs(plain_array(found) - expected)) / sum(expected), 0.02)
  expect_gt(sum(plain_array(found)), sum(keep) * 1.1)
  expect_equal(plain_array(found)[1, 1], 0)
})

test_that("threads change nothing, and windows give a bootstrap", {
  require_htslib()
  set.seed(5)
  phred <- random_phred(9000, 3)
  path <- likelihood_vcf(vcf_records("1", sprintf("%d", 10L * seq_along(phred)), "A", "C", "AA=A"),
                         cells_of_phred(phred))
  populations <- setNames(c("A", "A", "B"), paste0("s", 1:3))
  one <- sfs_from_likelihoods(path, populations, threads = 1)
  expect_identical(sfs_from_likelihoods(path, populations, threads = 3), one)
  set.seed(6)
  some <- sfs_from_likelihoods(path, populations, window = 3000, replicates = 3, threads = 1)
  expect_equal(plain_array(some), plain_array(one))
  bootstrap <- attr(some, "bootstrap")
  expect_length(bootstrap, 3)
  sums <- vapply(bootstrap, function(x) sum(plain_array(x)), 0)
  expect_equal(sums, rep(9000, 3), tolerance = 0.01)
  expect_false(identical(plain_array(bootstrap[[1]]), plain_array(bootstrap[[2]])))
})

test_that("likelihoods that are none are errors", {
  require_htslib()
  populations <- c(s1 = "A", s2 = "A")
  problem <- function(cells, kind, pattern, format = "PL", ...) {
    path <- likelihood_vcf(vcf_records("1", 1, "A", "C", "AA=A"), t(cells), format)
    expect_ancify_error(
      sfs_from_likelihoods(path, populations, threads = 1, ...), kind, pattern
    )
  }
  problem(c("0,3", "0,3,9"), "format", "has 2 genotype likelihoods, but a diploid one has 3")
  problem(c("0,3,9,1", "0,3,9"), "format", "has 4 genotype likelihoods")
  problem(c("-1,3,9", "0,3,9"), "format", "likelihood above 1")
  # Phred-scaled numbers in GL
  problem(c("0,3,9", "0,3,9"), "format", "likelihood above 1", "GL")
  problem(c("0/1", "0/0"), "input", "no genotype likelihoods, GL or PL, at its 1 site", "GT")
  problem(c("0,3,9", "0,3,9"), "input", "`coverage` must be a coverage_model() of 2 individuals",
          coverage = coverage_model(c(0, 1), 3))
  # None has the derived allele
  problem(c("0,900,9000", "0,900,9000"), "input", "by `coverage` they cannot have been found",
          coverage = coverage_model(c(0, 1), 2))
})

test_that("PL serves where GL has no values", {
  require_htslib()
  populations <- c(s1 = "A", s2 = "A")
  estimate <- function(cells, format) {
    path <- likelihood_vcf(vcf_records("1", 1, "A", "C", "AA=A"), t(cells), format)
    plain_array(sfs_from_likelihoods(path, populations, threads = 1))
  }
  expected <- estimate(c("30,0,30", "0,30,90"), "PL")
  expect_identical(estimate(c(".:30,0,30", ".:0,30,90"), "GL:PL"), expected)
  # Without values in either, all genotypes are as likely
  expect_equal(as.vector(estimate(c(".", "."), "GL")), rep(0.2, 5))
})

test_that("bootstrap replicates that have not converged are counted", {
  replicates <- lapply(c(TRUE, FALSE, TRUE, FALSE), function(converged) list(converged = converged))
  expect_warning(warn_about_replicates(replicates), "for 2 bootstrap replicates of 4",
                 class = "ancify_fit_warning")
  expect_no_warning(warn_about_replicates(replicates[c(1, 3)]))
})
