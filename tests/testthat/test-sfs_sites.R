# Spectra from allele counts.

test_that("sites without missing genotypes are counted", {
  derived <- cbind(A = c(1, 1, 2, 0, 3), B = c(0, 0, 1, 2, 2))
  x <- sfs_from_sites(derived, c(3, 2), threads = 1)
  expect_identical(names(dimnames(x)), c("A", "B"))
  expected <- array(0, c(4, 3))
  for (i in 1:5) {
    cell <- derived[i, , drop = FALSE] + 1
    expected[cell] <- expected[cell] + 1
  }
  expect_identical(unname(plain_array(x)), expected)
  expect_identical(which(attr(x, "mask")), c(1L, 12L))
  expect_identical(
    attr(x, "sites"), list(given = 5, used = 5, too_few = c(A = 0, B = 0))
  )
  expect_null(attr(x, "misidentification"))
  expect_null(attr(x, "bootstrap"))
})

test_that("a site is projected by hypergeometric probabilities", {
  # Two of four copies, two drawn.
  x <- sfs_from_sites(2, 4, project = 2, threads = 1)
  expect_equal(as.vector(unclass(x)), c(1, 4, 1) / 6)
  # One derived of four, with posterior 3/4: 3/4 of its projection, 1/4 of that of three of four.
  x <- sfs_from_sites(1, 4, "YRI", project = c(YRI = 2), posterior = 0.75, threads = 1)
  expect_equal(as.vector(unclass(x)), c(0.75 * 0.5, 0.5, 0.25 * 0.5))
})

test_that("spectra are those of the plain implementation", {
  set.seed(5)
  for (most in list(9, c(6, 8), c(4, 5, 4), c(3, 3, 4, 3, 3))) {
    sites <- random_counts(60, most)
    size <- pmax(most - 2, 2)
    p <- round(runif(60), 2)
    x <- sfs_from_sites(sites$derived, sites$called, project = size, threads = 2)
    oracle <- function(...) oracle_sfs_of_sites(sites$derived, sites$called, size, ...)
    expect_equal(unname(plain_array(x)), oracle(), tolerance = 1e-12)
    x <- sfs_from_sites(sites$derived, sites$called, project = size, posterior = p, threads = 2)
    expect_equal(unname(plain_array(x)), oracle(p), tolerance = 1e-12)
    enough <- t(t(sites$called) >= size)
    expect_identical(attr(x, "sites")$used, sum(rowSums(enough) == length(most)) + 0)
    expect_identical(unname(attr(x, "sites")$too_few), unname(colSums(!enough)))
  }
})

test_that("projecting sites or their spectrum gives the same", {
  set.seed(6)
  derived <- matrix(rbinom(400, 12, 0.3), ncol = 2)
  whole <- sfs_from_sites(derived, c(12, 12), threads = 1)
  direct <- sfs_from_sites(derived, c(12, 12), project = c(5, 7), threads = 1)
  expect_equal(plain_array(project_sfs(whole, c(5, 7))), plain_array(direct), tolerance = 1e-12)
  # With a posterior of 1/2, exchanged alleles give the same.
  blind <- sfs_from_sites(derived, c(12, 12), posterior = rep(0.5, 200), threads = 1)
  expect_equal(fold(blind)[], fold(whole)[], ignore_attr = TRUE)
  expect_equal(as.vector(unclass(blind)), rev(as.vector(unclass(blind))))
})

test_that("by default only sites with all haplotypes called are used", {
  x <- sfs_from_sites(cbind(c(1, 1, 2)), cbind(c(4, 3, 4)), threads = 1)
  expect_identical(dim(x), 5L)
  expect_identical(attr(x, "sites")$used, 2)
  expect_identical(attr(x, "sites")$too_few, c(`population 1` = 1))
  expect_match(format_sfs(x)[3], "given +3 sites, 1 with too few")
})

test_that("the same input gives the same bytes at any number of threads", {
  set.seed(7)
  sites <- random_counts(3e5, c(20, 16))
  p <- runif(3e5)
  windows <- sort(sample(50, 3e5, TRUE))
  spectra <- lapply(c(1, 2, 3), function(threads) {
    set.seed(8)
    sfs_from_sites(
      sites$derived, sites$called, project = c(15, 12), posterior = p, windows = windows,
      replicates = 3, threads = threads
    )
  })
  expect_identical(spectra[[1]], spectra[[2]])
  expect_identical(spectra[[1]], spectra[[3]])
})

test_that("a bootstrap draws whole windows", {
  set.seed(9)
  sites <- random_counts(40, c(5, 6))
  windows <- rep(c("x", "y", "z", "w"), 10)
  make <- function(...) {
    sfs_from_sites(sites$derived, sites$called, project = c(3, 4), threads = 1, ...)
  }
  set.seed(10)
  x <- make(windows = windows, replicates = 4)
  set.seed(10)
  expect_identical(make(windows = windows, replicates = 4), x)
  parts <- lapply(unique(windows), function(window) {
    here <- windows == window
    oracle_sfs_of_sites(sites$derived[here, ], sites$called[here, ], c(3, 4))
  })
  set.seed(10)
  expect_length(attr(x, "bootstrap"), 4)
  for (replicate in attr(x, "bootstrap")) {
    expect_s3_class(replicate, "sfs")
    drawn <- sample.int(4, 4, TRUE)
    expect_equal(
      unname(plain_array(replicate)), Reduce(`+`, parts[drawn]), tolerance = 1e-12
    )
  }
  expect_match(format_sfs(x), "bootstrap +4 spectra", all = FALSE)
})

test_that("misidentification is the mean of 1 - posterior over sites that vary", {
  p <- c(1, 0.9, 0.8, 0.5, 0.7, 0.2)
  make <- function(...) {
    sfs_from_sites(
      c(1, 2, 1, 1, 0, 1), c(4, 4, 4, 2, 4, 4), project = 3, posterior = p, threads = 1, ...
    )
  }
  # The fourth has too few called haplotypes, and the fifth does not vary.
  used <- p[c(1, 2, 3, 6)]
  expect_equal(
    attr(make(), "misidentification"),
    data.frame(sites = 4, rate = mean(1 - used), std_error = sqrt(sum(used * (1 - used))) / 4)
  )
  table <- attr(make(
    mutation = c("C>T", "C>T", "A>G", "A>G", "A>G", "C>T"),
    cpg = c(TRUE, TRUE, FALSE, TRUE, TRUE, FALSE)
  ), "misidentification")
  expect_identical(table$mutation, c("A>G", "C>T", "C>T"))
  expect_identical(table$cpg, c(FALSE, FALSE, TRUE))
  expect_equal(table$sites, c(1, 1, 2))
  expect_equal(table$rate, c(0.2, 0.8, 0.05))
  none <- sfs_from_sites(c(0, 0), 4, posterior = c(1, 1), cpg = c(TRUE, FALSE), threads = 1)
  expect_identical(nrow(attr(none, "misidentification")), 0L)
})

test_that("the estimated misidentification is the simulated one", {
  set.seed(11)
  n <- 20000
  derived <- sample(1:9, n, TRUE, 1 / 1:9)
  p <- sample(c(0.99, 0.7), n, TRUE)
  wrong <- runif(n) > p
  counted <- ifelse(wrong, 10 - derived, derived)
  x <- sfs_from_sites(counted, 10, posterior = p, threads = 1)
  rate <- attr(x, "misidentification")
  expect_lt(abs(rate$rate - mean(wrong)), 4 * rate$std_error)
})

test_that("without used sites the spectrum is empty", {
  x <- sfs_from_sites(matrix(1, 2, 2), cbind(c(4, 2), c(2, 4)), project = c(3, 3), threads = 1)
  expect_identical(sum(x), 0)
  expect_identical(attr(x, "sites")$used, 0)
})

test_that("errors name the site", {
  refused <- function(..., texts) {
    expect_ancify_error(sfs_from_sites(..., threads = 1), "input", texts)
  }
  refused(c(1, 5), 4, "A", texts = c("Site 2", "5 derived of 4", "in A"))
  refused(c(1, NA), 4, texts = c("Site 2", "NA derived", "population 1"))
  refused(c(1, -1), 4, texts = "-1 derived")
  refused(c(1, 1.5), 4, texts = c("1.5 at site 2"))
  refused("a", 4, texts = "`derived` must be a numeric matrix")
  refused(matrix(0, 2, 6), rep(1, 6), texts = "6 columns")
  refused(1:3, cbind(4, 4), texts = "`called` is 1 x 2")
  refused(1:2, 4, c("A", "B"), texts = "1 name")
  refused(1:2, 4, project = 5,
          texts = "`project` is 5 for population 1: give a whole number from 1 to 4,")
  refused(1:2, 4, project = 0, texts = "`project` is 0 for population 1")
  refused(1:2, 4, "A", project = c(B = 2), texts = c("'B'", "'A'"))
  refused(1:2, 4, project = c(2, 2), texts = "each of 1 population,")
  refused(numeric(), 4, texts = "No site has a called haplotype")
  refused(1:2, 4, posterior = c(0.5, 1.5), texts = "1.5 at site 2")
  refused(1:2, 4, posterior = c(0.5, NA), texts = "NA at site 2")
  refused(1:2, 4, posterior = "a", texts = "`posterior`")
  refused(1:2, 4, posterior = 0.5, texts = c("`derived` has 2", "`posterior` has 1"))
  refused(1:2, 4, mutation = c("A>C", "C>A"), texts = "`posterior`")
  refused(1:2, 4, posterior = c(1, 1), cpg = c(TRUE, NA), texts = "`cpg` is NA at site 2")
  refused(1:2, 4, posterior = c(1, 1), cpg = 1:2, texts = "TRUE or FALSE")
  refused(1:2, 4, windows = mean, texts = "`windows`")
  refused(1:2, 4, posterior = c(1, 1), mutation = list("A", "B"), texts = "`mutation`")
  refused(1:2, c(2e9, 2e9), texts = "more than 100,000,000")
  refused(1:2, 4, windows = c(1, 1), texts = "only one")
  refused(1:2, 4, windows = 1:2, replicates = 0, texts = "`replicates`")
  refused(matrix(1, 1, 5), rep(200, 5), texts = "cells")
})
